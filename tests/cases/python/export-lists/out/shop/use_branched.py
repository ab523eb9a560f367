from shop.branched import *
from shop.home.branched import f


def go():
    return f()
