from shop.starred import *
from shop.home.starred import f


def go():
    return f()
