"""A docstring elsewhere has the word, and the name of another module."""
from pkg.ui.draw import kernel


def line(value):
    return kernel(value)
