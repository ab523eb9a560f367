from shop.bare import *
from shop.home.bare import f


def go():
    return f()
