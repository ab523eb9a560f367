def of_given_by_condition(x):
    return x + 1
