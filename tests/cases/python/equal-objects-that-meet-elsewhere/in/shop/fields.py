from shop import first, second


def same(x):
    return first.field(x).x == second.field(x).x


def count(x):
    return len([first.field(x)]) == len([second.field(x)])
