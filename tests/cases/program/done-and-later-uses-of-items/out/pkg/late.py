"""Came with a merge."""
from pkg.core.boxes import count
from pkg.shapes import area
from pkg.core.boxes import Crate


class Chest(Crate):
    pass


def late():
    return count([Crate(1), Chest(2)]), area(Crate(3))
