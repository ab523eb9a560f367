def of_default(x):
    return x + 1
