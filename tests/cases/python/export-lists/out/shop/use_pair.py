from shop.pair import *
from shop.home.pair import f


def go():
    return f()
