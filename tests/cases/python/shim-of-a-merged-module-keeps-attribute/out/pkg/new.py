def scale(x, by):
    return x * by


def shift(x):
    return x + 1
