import enum
import logging
import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Optional, TypeVar

from pkg.same.units import SCALE, Unit, scaled

T = TypeVar("T")
LOGGER = logging.getLogger(__name__)
COLOUR = "red"
SIZES = {name: len(name) * SCALE for name in ("a", "bb")}
TURN = 2 * math.pi
WIDTH = scaled(3)


class Kind(enum.Enum):
    LINE = 1


@dataclass
class Style(Unit):
    kind: Kind = Kind.LINE
    names: list = field(default_factory=list)

    @property
    def width(self) -> Optional[int]:
        return WIDTH


@lru_cache(maxsize=None)
def found(name=COLOUR):
    return SIZES.get(name)
