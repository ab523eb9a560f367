import pkg.more.b


def a():
    return pkg.more.b
