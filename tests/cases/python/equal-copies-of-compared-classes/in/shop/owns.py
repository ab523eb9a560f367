from shop import first
from shop.second import own_second


def both():
    return own_second() in [first.own_first()]
