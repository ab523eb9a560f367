from pkg.loads.ui.draw import COLOUR


def show(count):
    return [COLOUR] * count
