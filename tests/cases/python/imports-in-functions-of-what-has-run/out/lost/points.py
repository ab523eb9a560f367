def shift(value):
    from lost.crop import crop
    return crop(value)
