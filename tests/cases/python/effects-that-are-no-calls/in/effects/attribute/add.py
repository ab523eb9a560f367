def of_attribute(x):
    return x + 1
