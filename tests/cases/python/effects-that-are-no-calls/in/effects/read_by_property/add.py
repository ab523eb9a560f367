def of_read_by_property(x):
    return x + 1
