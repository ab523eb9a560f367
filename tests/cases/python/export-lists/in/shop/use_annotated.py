from shop.annotated import *


def go():
    return f()
