def z():
    return 0


def h(x=1):
    return x
