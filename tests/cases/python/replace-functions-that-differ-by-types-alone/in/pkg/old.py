def area(shape, *rest, unit=1):
    total = 1
    for size in shape:
        total *= size
    return total * unit


def width(shape):
    return shape[0]
