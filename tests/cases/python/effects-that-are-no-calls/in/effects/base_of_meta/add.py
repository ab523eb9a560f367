def of_base_of_meta(x):
    return x + 1
