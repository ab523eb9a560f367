def unit():
    return 2


def dispatch():
    return unit()
