"""Kernels."""
from p.core import size

try:
    from numba_of_nobody import Base
except ImportError:

    class Base:
        pass


try:
    from cupy_of_nobody import fuse
except ImportError:

    def fuse(function):
        return function


class Kernel(Base):
    pass


@fuse
def double(x):
    return x * 2


def sizes(xs):
    return [size(x) for x in xs]
