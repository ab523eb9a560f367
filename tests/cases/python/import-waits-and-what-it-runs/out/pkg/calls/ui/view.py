from pkg.calls.ui.draw import COLOUR


def show(count):
    return [COLOUR] * count
