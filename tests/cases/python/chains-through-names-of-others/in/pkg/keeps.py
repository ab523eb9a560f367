from pkg import gpu as g


def r():
    return g.count(), g.name()
