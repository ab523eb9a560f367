def scale(values, by=2):
    return [value * by for value in values]
