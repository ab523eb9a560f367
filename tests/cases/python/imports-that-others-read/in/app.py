import pkg.gpu as g


def f():
    return g.floor(2.3)
