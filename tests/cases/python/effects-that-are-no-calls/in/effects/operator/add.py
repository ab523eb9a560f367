def of_operator(x):
    return x + 1
