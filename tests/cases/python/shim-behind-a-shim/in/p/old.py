"""Old."""
LIMIT = 4


def f(x):
    return g(x) + LIMIT


def g(x):
    return x * 2
