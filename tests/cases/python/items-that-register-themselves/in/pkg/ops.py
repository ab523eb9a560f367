import functools

from pkg.table import Base, operation, show


@operation
def add(a, b):
    return a + b


class Sum(Base):
    pass


@show.register(int)
def shown(value):
    return "int"


@functools.lru_cache
def plain():
    return 1


@operation
def kept(a):
    return a
