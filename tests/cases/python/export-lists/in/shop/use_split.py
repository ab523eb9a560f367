from shop.split import *


def go():
    return f()
