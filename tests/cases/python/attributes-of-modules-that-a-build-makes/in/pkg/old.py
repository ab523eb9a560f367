def size():
    return 1


def use():
    return size()
