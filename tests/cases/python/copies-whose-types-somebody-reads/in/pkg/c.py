def shown(value):
    return value + 1
