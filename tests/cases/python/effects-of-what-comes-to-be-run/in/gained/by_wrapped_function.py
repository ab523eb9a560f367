import functools

from gained.base import register


def wrapping(function):
    @functools.wraps(function)
    def inner(name):
        return register(name)

    return inner


@wrapping
def wrapped(name):
    return name


wrapped('w')
