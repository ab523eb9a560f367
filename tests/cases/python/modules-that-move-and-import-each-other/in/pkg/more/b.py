import pkg.more.a


def b():
    return pkg.more.a
