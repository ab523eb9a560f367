"""Module a."""


def f_a(x):
    return x + 1
