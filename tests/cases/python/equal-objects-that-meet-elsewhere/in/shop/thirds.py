from shop import first, second
from shop.compare import same


def check(x):
    return same(first.third(x), second.third(x))
