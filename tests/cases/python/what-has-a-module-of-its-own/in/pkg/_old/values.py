from collections import namedtuple

Point = namedtuple("Point", ["x", "y"])


def double(x):
    return 2 * x
