"""Needs `pkg.ui` when it draws, not before."""

import math

# Colours and labels.
from pkg.ui.draw import COLOUR, bit_strings_of_a_register


def show(count):
    """Draws."""

    def label(at):
        return bit_strings_of_a_register(count)[at]

    return [(COLOUR, label(at)) for at in range(count)]


class Canvas:
    def frame(self):
        return COLOUR


def size(count):
    return math.sqrt(count)
