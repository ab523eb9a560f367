import dataclasses

from gained.base import register


def make():
    return register('f')


@dataclasses.dataclass
class Point:
    names: list = dataclasses.field(default_factory=make)


X = Point()
