__all__ = "f g".split()


def f():
    return 1


def g():
    return 2
