def short(value):
    return value
