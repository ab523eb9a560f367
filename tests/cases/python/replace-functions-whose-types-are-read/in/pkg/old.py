def area(shape):
    return len(shape)
