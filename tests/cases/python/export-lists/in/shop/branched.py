import sys

__all__ = ["g"]
if sys.platform:
    __all__.append("f")


def f():
    return 1


def g():
    return 2
