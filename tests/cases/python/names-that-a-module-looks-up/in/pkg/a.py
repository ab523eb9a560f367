from pkg import c

__all__ = ["g"] + ["f"] + c.__all__


def f():
    return 1


def g(name):
    return globals()[name]()
