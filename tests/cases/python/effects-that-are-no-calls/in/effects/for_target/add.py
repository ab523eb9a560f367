def of_for_target(x):
    return x + 1
