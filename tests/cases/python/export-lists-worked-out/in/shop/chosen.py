__all__ = [n for n in ("f", "g")]


def f():
    return 1


def g():
    return 2
