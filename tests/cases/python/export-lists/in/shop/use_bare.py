from shop.bare import *


def go():
    return f()
