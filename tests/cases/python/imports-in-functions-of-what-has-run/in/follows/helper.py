from follows.crop import clip


def double(value):
    return clip(value) * 2
