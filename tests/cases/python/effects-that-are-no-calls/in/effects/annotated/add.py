def of_annotated(x):
    return x + 1
