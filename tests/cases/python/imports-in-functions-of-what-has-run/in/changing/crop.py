from changing.config import LEVEL


def clip(value):
    return max(value, LEVEL)
