from inspect import getmodule

from pkg import a, c


def of_other(thing):
    import pkg.ask as own

    return getmodule(thing) is own


def of_a():
    return [name for name in dir(a) if getmodule(getattr(a, name)) is a]
