def of_parts(x):
    return x + 1
