def of_pushed(x):
    return x + 1
