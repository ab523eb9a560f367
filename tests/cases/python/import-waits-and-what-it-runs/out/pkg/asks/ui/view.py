from pkg.asks.ui.draw import COLOUR


def show(count):
    return [COLOUR] * count
