def area(width, height):
    return width * height


def edge(area):
    return area ** 0.5
