"""Needs `pkg.ui` when it draws, not before."""

import math

# Colours and labels.


def show(count):
    """Draws."""

    from pkg.ui.draw import COLOUR, bit_strings_of_a_register

    def label(at):
        return bit_strings_of_a_register(count)[at]

    return [(COLOUR, label(at)) for at in range(count)]


class Canvas:
    def frame(self):
        from pkg.ui.draw import COLOUR
        return COLOUR


def size(count):
    return math.sqrt(count)
