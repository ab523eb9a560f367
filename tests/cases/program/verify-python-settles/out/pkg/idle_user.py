import pkg.tools
from pkg.idle.add import add_slowly


def both(a):
    return add_slowly(a, a)
