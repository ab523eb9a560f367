def of_augmented_object(x):
    return x + 1
