"""Kernels."""
from p.core import size

try:
    from numba import njit

    COMPILED = True
except ImportError:
    COMPILED = False

    def njit(function):
        return function


@njit
def triple(x):
    return x * 3


def sizes(xs):
    return [size(x) for x in xs]
