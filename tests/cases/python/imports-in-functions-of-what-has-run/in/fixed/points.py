def shift(value):
    return value
