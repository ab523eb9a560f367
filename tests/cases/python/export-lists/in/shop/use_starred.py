from shop.starred import *


def go():
    return f()
