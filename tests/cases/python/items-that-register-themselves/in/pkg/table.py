from functools import singledispatch

TABLE = {}


def operation(function):
    TABLE[function.__name__] = function
    return function


class Base:
    known = []

    def __init_subclass__(cls):
        Base.known.append(cls)


@singledispatch
def show(value):
    return "?"
