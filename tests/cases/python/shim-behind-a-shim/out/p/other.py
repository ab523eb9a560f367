"""Other."""

from p.new import LIMIT, g


def f(x):
    return g(x) + LIMIT
