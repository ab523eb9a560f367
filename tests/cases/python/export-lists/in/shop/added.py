__all__ = ["g"]
__all__ += ("f",)


def f():
    return 1


def g():
    return 2
