def name():
    return "left"


def size():
    return 1
