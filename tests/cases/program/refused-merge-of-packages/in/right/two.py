def name():
    return "right"


def size():
    return 2
