A = 2


def scaled(n):
    return n * A


def use():
    return scaled(2)
