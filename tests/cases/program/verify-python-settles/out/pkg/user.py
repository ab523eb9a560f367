import pkg.tools
from pkg.ops.add import add


def both(a):
    return add(a, a)
