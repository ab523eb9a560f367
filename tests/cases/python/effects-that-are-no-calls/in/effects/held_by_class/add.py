def of_held_by_class(x):
    return x + 1
