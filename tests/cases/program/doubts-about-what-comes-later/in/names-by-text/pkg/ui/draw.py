def kernel(value):
    return value
