from shop.total import *
from shop.home.total import f


def go():
    return f()
