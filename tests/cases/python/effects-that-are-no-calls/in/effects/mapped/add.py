def of_mapped(x):
    return x + 1
