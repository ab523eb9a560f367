X = 1


def f():
    return X
