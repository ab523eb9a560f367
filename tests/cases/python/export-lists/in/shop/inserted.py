__all__ = ["g"]
__all__.insert(0, "f")


def f():
    return 1


def g():
    return 2
