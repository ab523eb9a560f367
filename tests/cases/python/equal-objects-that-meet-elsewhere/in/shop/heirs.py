from shop import first, second


def distinct(x):
    return len({first.heir(x), second.heir(x)})
