def area(width, *, depth):
    return width * depth
