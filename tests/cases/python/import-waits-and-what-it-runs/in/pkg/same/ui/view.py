from pkg.same.ui.draw import COLOUR


def show(count):
    return [COLOUR] * count
