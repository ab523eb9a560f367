from d import e


def f():
    return e.c()
