def of_entered(x):
    return x + 1
