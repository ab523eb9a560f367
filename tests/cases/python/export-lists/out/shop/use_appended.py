from shop.appended import *
from shop.home.appended import f


def go():
    return f()
