def of_marks(x):
    return x + 1
