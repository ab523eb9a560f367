def of_set_by_call(x):
    return x + 1
