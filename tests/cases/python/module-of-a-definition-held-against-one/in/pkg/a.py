def f():
    return 1


def rest():
    return 2
