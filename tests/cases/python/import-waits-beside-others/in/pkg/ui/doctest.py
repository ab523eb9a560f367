"""A doctest calls the module otherwise."""
from pkg.ui.draw import kernel


def dot(value):
    return kernel(value)
