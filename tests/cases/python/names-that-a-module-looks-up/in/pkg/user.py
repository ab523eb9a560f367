import pkg.c
from pkg import c


def backend():
    return c


def go(name):
    return getattr(pkg.c, "h_" + name), getattr(c, "h")
