def show(count):
    from pkg.same.ui.draw import COLOUR
    return [COLOUR] * count
