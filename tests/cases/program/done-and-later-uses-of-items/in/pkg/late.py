"""Came with a merge."""
from pkg.gone import count
from pkg.shapes import Box, area


class Chest(Box):
    pass


def late():
    return count([Box(1), Chest(2)]), area(Box(3))
