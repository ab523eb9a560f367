LEVEL = 1


def set_level(level):
    global LEVEL
    LEVEL = level
