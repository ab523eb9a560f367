from shop.inserted import *


def go():
    return f()
