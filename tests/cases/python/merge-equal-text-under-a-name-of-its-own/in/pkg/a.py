A = 1


def scaled(n):
    return n * A
