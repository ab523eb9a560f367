from run.crop import crop


def shift(value):
    return crop(value)


def clip(value):
    return max(value, 0)
