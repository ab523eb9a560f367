def of_default_of_lambda(x):
    return x + 1
