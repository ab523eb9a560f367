"""Somebody holds the module, and gives it to a function."""
from pkg.ui.draw import kernel


def pen(value):
    return kernel(value)
