from shop.appended import *


def go():
    return f()
