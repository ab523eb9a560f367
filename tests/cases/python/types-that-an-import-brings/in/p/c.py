"""C."""


def show(x):
    return str(x)
