def of_looked_up(x):
    return x + 1
