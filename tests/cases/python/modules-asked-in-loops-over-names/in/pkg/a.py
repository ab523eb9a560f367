def f():
    return 1


def kept():
    return 2


def asked():
    return 3
