LIMIT = 3


def depth():
    return 4
