from deep.crop import crop


def shift(value):
    return crop(value)
