def of_condition(x):
    return x + 1
