from pkg.ops.add import add


def go():
    return add()
