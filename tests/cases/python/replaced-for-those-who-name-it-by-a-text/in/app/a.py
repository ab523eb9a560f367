def run(x):
    return x + 1


def build():
    return "a"


def nobody(x):
    return x + 1
