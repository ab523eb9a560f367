"""Somebody finds the module by its name."""
from pkg.ui.draw import kernel


def mark(value):
    return kernel(value)
