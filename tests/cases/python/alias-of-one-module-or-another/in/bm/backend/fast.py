def only(x):
    return x + 1
