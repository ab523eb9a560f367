from pkg.ui import held


def call(tools):
    return tools.kernel(1)


def both():
    return call(held)
