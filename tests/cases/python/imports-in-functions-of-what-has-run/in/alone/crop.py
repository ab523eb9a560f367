def clip(value):
    return max(value, 0)


def crop(value):
    return clip(value) + 1
