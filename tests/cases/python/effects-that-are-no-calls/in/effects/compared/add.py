def of_compared(x):
    return x + 1
