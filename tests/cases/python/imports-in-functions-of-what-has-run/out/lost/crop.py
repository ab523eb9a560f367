from lost.helper import ZERO


def clip(value):
    return max(value, ZERO)


def crop(value):
    return clip(value) + 1
