from shop.extended import *


def go():
    return f()
