"""Settings."""
from collections import namedtuple
from typing import NamedTuple


class Level(NamedTuple):
    name: str
    number: int = 0

    def twice(self):
        return self._replace(number=self.number * 2)


class Own:
    def _replace(self, **values):
        LOG.append(values)
        return self


LOG = []
Point = namedtuple("Point", "x y")
LOW = Level("low")
HIGH = LOW._replace(name="high")
TOP = HIGH.twice()
AS_DICT = HIGH._asdict()
ORIGIN = Point(0, 0)
RIGHT = ORIGIN._replace(x=1)


def show():
    return HIGH
