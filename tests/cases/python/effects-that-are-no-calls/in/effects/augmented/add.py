def of_augmented(x):
    return x + 1
