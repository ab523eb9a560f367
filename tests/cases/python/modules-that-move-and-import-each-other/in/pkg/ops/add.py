import pkg.ops.sub


def add():
    return pkg.ops.sub
