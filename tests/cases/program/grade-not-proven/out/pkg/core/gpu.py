"""GPU."""


def count():
    return 1
