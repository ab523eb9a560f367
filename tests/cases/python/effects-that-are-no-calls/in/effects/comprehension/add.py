def of_comprehension(x):
    return x + 1
