def of_annotated_name(x):
    return x + 1
