__all__ = sorted(["f", "g"])


def f():
    return 1


def g():
    return 2
