__all__ = []
__all__.append("f")


def f():
    return 1


def g():
    return 2
