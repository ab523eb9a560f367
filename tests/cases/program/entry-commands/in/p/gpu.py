def fill(size):
    return [0] * size
