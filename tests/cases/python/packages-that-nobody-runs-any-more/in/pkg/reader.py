import pkg.one


def go():
    return pkg.a.X
