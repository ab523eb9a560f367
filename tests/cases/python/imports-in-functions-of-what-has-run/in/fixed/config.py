from fixed.points import shift

LEVEL = 3


def shifted():
    return shift(LEVEL)
