from pkg.above.ui.draw import COLOUR


def show(count):
    return [COLOUR] * count
