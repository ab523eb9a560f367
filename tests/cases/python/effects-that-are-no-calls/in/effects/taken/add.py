def of_taken(x):
    return x + 1
