from pkg.state.ui.draw import COLOUR


def show(count):
    return [COLOUR] * count
