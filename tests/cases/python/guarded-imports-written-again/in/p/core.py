"""Core."""


def size(x):
    return len(x)
