REPEAT = 3


def bench():
    return REPEAT
