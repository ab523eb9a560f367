__all__ = ["g"]
__all__.extend(["f"])


def f():
    return 1


def g():
    return 2
