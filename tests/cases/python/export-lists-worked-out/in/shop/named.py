N = "f"
__all__ = [N, "g"]


def f():
    return 1


def g():
    return 2
