from .old import scale


def double(x):
    return scale(x, 2)
