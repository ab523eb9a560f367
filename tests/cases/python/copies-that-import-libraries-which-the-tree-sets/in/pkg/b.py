from math import prod
from time import time


def stamp(label):
    parts = [label, "at"]
    return max(len(parts), time())


def area(shape):
    sides = [abs(side) for side in shape]
    return prod(sides)
