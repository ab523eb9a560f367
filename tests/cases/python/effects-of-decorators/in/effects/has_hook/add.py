def of_has_hook(x):
    return x + 1
