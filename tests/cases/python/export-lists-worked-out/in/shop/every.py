def f():
    return 1


def g():
    return 2


__all__ = [n for n in dir() if not n.startswith("_")]
