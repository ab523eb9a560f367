def of_length(x):
    return x + 1
