def shift(value):
    return value


def clip(value):
    from fixed.config import LEVEL
    return max(value, LEVEL)
