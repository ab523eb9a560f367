def of_bound_by_nonlocal(x):
    return x + 1
