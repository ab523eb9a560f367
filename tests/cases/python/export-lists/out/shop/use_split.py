from shop.split import *
from shop.home.split import f


def go():
    return f()
