from shop.inserted import *
from shop.home.inserted import f


def go():
    return f()
