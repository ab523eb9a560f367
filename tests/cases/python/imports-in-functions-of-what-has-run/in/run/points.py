from run.crop import crop


def shift(value):
    return crop(value)
