def of_gone_through(x):
    return x + 1
