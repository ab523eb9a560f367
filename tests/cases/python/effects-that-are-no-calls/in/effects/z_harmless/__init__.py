import collections
import dataclasses
import enum
import functools
import logging
import os
import re
import typing
from typing import Dict, Optional, TypeVar

from effects.base import N, TEXTS, register

__all__ = ["Color", "Point"]
__all__ += ["Shape"]
logger = logging.getLogger(__name__)
logger.addHandler(logging.NullHandler())
T = TypeVar("T", bound="Point")
Pair = collections.namedtuple("Pair", "a b")
PATTERN = re.compile(r"\d+" + "x")
HERE = os.path.join(os.path.dirname(__file__), "data")
SIZES: Dict[str, int] = {name: len(name) * 2 for name in ("a", "bc")}
SIZES["d"] = max(SIZES.values(), key=lambda size: -size)
NEXT = N + 1
Alias = Optional[typing.Union[int, "Point"]]


class Color(enum.IntFlag):
    RED = enum.auto()
    BLUE = enum.auto()
    BOTH = RED | BLUE


NAMES = {color: color.name.lower() for color in Color}
DEFAULT = Color.RED | Color.BLUE


@dataclasses.dataclass(frozen=True)
class Point(typing.Generic[T]):
    x: int = 0
    names: list = dataclasses.field(default_factory=list)

    @property
    def double(self) -> int:
        return 2 * self.x

    @functools.lru_cache(maxsize=None)
    def known(self, other: "Optional[Point]" = None) -> bool:
        return register(other)


class Shape(Point):
    ORIGIN = Point(1)
    __slots__ = ("a",) + ("b",)


def helper(name: str, sizes=SIZES) -> "Pair":
    return Pair(name, sizes.get(name))


FIRST = helper("a", {"a": 2}).a
LATER = functools.partial(register, "later")
try:
    import missing_library
except ImportError:
    missing_library = None
if typing.TYPE_CHECKING:
    from effects.base import Registry
if __name__ == "__main__":
    register("main")
