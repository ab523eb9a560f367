REPEAT = 5


def repeat():
    return REPEAT

REPEAT_A = 3


def bench():
    return REPEAT_A
