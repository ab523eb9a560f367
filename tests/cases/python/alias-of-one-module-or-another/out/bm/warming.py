def warm(x):
    return x * 2
