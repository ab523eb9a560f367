import pkg.ops.add


def sub():
    return pkg.ops.add
