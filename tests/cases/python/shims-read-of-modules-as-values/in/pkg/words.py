def g():
    return 1


def more():
    return 2
