from shop.added import *


def go():
    return f()
