"""A board takes a function of it, and calls a method of something else by the name."""
from pkg.ui.draw import kernel


def stroke(value):
    return kernel(value)
