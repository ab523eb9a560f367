from shop.sorted_list import *


def go():
    return f()
