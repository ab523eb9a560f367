from shop import first, second


def same(x):
    return first.point_first(x) == second.point_second(x)
