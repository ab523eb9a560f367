from pkg.b import max as b_max


def biggest(values):
    return max(values)


def identity(value):
    return id(value)


def use(values):
    return b_max(values)
