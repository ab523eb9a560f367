from pkg.deep.ui.draw import COLOUR


def show(count):
    return [COLOUR] * count
