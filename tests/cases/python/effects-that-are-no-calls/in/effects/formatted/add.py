def of_formatted(x):
    return x + 1
