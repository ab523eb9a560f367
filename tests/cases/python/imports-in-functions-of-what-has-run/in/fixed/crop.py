from fixed.config import LEVEL


def clip(value):
    return max(value, LEVEL)
