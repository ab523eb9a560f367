from shop.pair import *


def go():
    return f()
