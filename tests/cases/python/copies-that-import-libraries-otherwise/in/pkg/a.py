import math


def area(shape):
    sides = [abs(side) for side in shape]
    return math.prod(sides)


def root(value):
    return math.sqrt(value)
