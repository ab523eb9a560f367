from .new import scale


def double(x):
    return scale(x, 2)
