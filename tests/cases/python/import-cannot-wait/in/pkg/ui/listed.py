"""Offers the name to others."""
from pkg.ui.draw import COLOUR

__all__ = ["COLOUR", "tint"]


def tint():
    return COLOUR
