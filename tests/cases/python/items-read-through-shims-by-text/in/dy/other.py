Y = 1


def g():
    return Y
