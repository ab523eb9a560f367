from shop.added import *
from shop.home.added import f


def go():
    return f()
