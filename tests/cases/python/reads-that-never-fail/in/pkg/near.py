def near(value):
    return value
