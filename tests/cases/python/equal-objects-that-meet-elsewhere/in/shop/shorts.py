from shop import first, second


def same(x):
    return first.short(x) == second.short(x)
