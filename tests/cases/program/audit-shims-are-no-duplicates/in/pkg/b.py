"""Module b."""


def f_b(x):
    return x + 1
