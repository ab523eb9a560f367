def crop(value):
    from run.points import clip
    return clip(value) + 1
