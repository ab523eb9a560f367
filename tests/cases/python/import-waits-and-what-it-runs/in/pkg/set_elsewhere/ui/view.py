from pkg.set_elsewhere.ui.draw import COLOUR


def show(count):
    return [COLOUR] * count
