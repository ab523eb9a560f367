from pkg.old import clamp


def use(value):
    return clamp(value)
