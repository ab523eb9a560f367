from pkg.counts.ui.draw import COLOUR


def show(count):
    return [COLOUR] * count
