def run(x):
    return x + 2


def build():
    return "b".upper()


def nobody(x):
    return x + 2
