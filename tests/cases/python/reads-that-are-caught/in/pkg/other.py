def plain(value):
    return value + 1
