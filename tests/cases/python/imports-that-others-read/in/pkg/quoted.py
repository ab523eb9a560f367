from math import floor, pi


def count():
    return floor(2.2)


def name():
    return pi
