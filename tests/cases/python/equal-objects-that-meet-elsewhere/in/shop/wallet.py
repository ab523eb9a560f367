from shop import first, second


def total(x):
    return first.money(x).plus(second.money(x))
