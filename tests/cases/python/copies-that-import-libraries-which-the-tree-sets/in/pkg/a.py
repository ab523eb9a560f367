import math
import time


def stamp(label):
    parts = [label, "at"]
    return max(len(parts), time.time())


def area(shape):
    sides = [abs(side) for side in shape]
    return math.prod(sides)
