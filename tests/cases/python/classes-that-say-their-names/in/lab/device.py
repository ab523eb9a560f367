from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


class Named:
    def __repr__(self):
        return f"{type(self).__name__}()"


class Device:
    def __init__(self, kind):
        self.kind = kind

    def __repr__(self):
        return "%s(%r)" % (self.__class__.__name__, self.kind)


class Mode(Enum):
    FAST = 1


class LowMemory(ValueError):
    pass


class Span(NamedTuple):
    start: int


class Stream(Named):
    pass


@dataclass(repr=False)
class Hidden:
    number: int


class Fixed:
    def __repr__(self):
        return "Fixed(1)"
