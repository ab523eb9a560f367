from . import deco as keys


def hashkey(*a):
    return a


LIMIT = 3


class Base:
    size = 2


def cached(cache, key=keys.hashkey):
    return key(cache)
