def fill(size):
    return [0] * size


def drain(items):
    items.clear()
