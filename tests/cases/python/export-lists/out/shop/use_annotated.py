from shop.annotated import *
from shop.home.annotated import f


def go():
    return f()
