def of_wraps_by_inner(x):
    return x + 1
