def of_bound_twice(x):
    return x + 1
