from shop.branched import *


def go():
    return f()
