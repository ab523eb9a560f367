NAME = "gpu"


def run(x):
    return x + 2


def warm(x):
    return x * 2
