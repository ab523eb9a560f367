from shop.sorted_list import *
from shop.home.sorted_list import f


def go():
    return f()
