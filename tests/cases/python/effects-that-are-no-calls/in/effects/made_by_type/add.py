def of_made_by_type(x):
    return x + 1
