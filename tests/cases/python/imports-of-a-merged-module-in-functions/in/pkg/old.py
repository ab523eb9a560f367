def f():
    return 1


def g():
    return 2


def e():
    return 3
