def of_made_by_metaclass(x):
    return x + 1
