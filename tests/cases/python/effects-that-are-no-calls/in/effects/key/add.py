def of_key(x):
    return x + 1
