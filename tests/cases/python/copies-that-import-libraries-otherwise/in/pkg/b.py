from math import prod, isqrt as sqrt


def area(shape):
    sides = [abs(side) for side in shape]
    return prod(sides)


def root(value):
    return sqrt(value)
