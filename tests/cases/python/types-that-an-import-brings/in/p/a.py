from __future__ import annotations

from dataclasses import dataclass
from typing import get_type_hints

from p.t import Size


@dataclass
class Row:
    size: Size


@dataclass
class Cell:
    size: Size


def hints(cls):
    return get_type_hints(cls)
