"""A doctest reads the names of the module."""
from pkg.ui.draw import COLOUR


def shade():
    """
    >>> COLOUR
    'red'
    """
    return COLOUR
