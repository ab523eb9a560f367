from pkg.reader import read


def late(value):
    return value + 1
