from dataclasses import dataclass
from enum import Enum, IntEnum


class Kind(Enum):
    CPU = 1
    GPU = 2


@dataclass
class Point:
    x: int


class Level(IntEnum):
    LOW = 1


class Own:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return isinstance(other, Own) and other.x == self.x


class Alone(Enum):
    A = 1


@dataclass(eq=False)
class Settings:
    name: str = ""


def kind_second():
    return Kind.GPU


def point_second(x):
    return Point(x)


def level_second():
    return Level.LOW


def own_second():
    return Own(1)


def alone_second():
    return Alone.A


def settings_second():
    return Settings()
