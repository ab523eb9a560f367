def biggest(values):
    return max(values)


def identity(value):
    return id(value)
