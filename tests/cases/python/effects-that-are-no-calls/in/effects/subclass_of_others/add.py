def of_subclass_of_others(x):
    return x + 1
