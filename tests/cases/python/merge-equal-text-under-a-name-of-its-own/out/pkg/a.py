A = 1


def scaled(n):
    return n * A

B_A = 2


def scaled_b(n):
    return n * B_A


def use():
    return scaled_b(2)
