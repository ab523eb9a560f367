from shop.total import *


def go():
    return f()
