def of_called_by_inner(x):
    return x + 1
