from p.b import g


def f():
    return g
