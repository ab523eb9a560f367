from changing.points import shift

LEVEL = 3


def set_level(value):
    global LEVEL
    LEVEL = value


def shifted():
    return shift(LEVEL)
