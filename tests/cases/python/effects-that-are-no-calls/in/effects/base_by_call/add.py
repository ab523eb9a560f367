def of_base_by_call(x):
    return x + 1
