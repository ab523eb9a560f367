import d.e


def f():
    return d.e.c()
