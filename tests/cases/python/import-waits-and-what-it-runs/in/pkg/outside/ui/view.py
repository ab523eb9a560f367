from pkg.outside.ui.draw import COLOUR


def show(count):
    return [COLOUR] * count
