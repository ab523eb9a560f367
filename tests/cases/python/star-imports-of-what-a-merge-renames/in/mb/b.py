REPEAT = 5


def repeat():
    return REPEAT
