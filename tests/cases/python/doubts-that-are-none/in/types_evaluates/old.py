from __future__ import annotations
from decimal import Decimal
from typing import get_type_hints
def scaled(x: Decimal) -> Decimal:
    return x * 2
def hints(function):
    return get_type_hints(function)
