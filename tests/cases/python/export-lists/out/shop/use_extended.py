from shop.extended import *
from shop.home.extended import f


def go():
    return f()
