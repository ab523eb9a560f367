COLOUR = "red"


class Shape:
    pass


def kernel(value):
    return value
