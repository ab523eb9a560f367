import functools
from dataclasses import dataclass, dataclass as record

from shop.base import Base

frozen = record(frozen=True)
ordered = functools.partial(record, order=True)


@frozen
class Key:
    x: int


@ordered
class Rank:
    x: int


class Heir(Base):
    def __init__(self, x):
        self.x = x


class Short:
    def __init__(self, x):
        self.x = x

    __eq__ = lambda self, other: isinstance(other, Short)
    __hash__ = None


class Money:
    def __init__(self, x):
        self.x = x

    def plus(self, other):
        if not isinstance(other, Money):
            raise TypeError("money")
        return Money(self.x + other.x)


@record
class Third:
    x: int


@record
class Boxed:
    x: int


@record
class Apart:
    x: int


@record
class Field:
    x: int


@record
class Named:
    x: int


@frozen
class Counted:
    x: int


@frozen
class Listed:
    x: int


def counted(x):
    return Counted(x)


def listed(x):
    return Listed(x)


def key(x):
    return Key(x)


def rank(x):
    return Rank(x)


def heir(x):
    return Heir(x)


def short(x):
    return Short(x)


def money(x):
    return Money(x)


def third(x):
    return Third(x)


def boxed(x):
    return Boxed(x)


def apart(x):
    return Apart(x)


def field(x):
    return Field(x)


def named(x):
    return Named(x)
