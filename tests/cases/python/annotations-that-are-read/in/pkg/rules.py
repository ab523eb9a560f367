"""Reads the types of a class that it has itself."""
from __future__ import annotations


class Rules:
    width: int
    height: int


NAMES = list(Rules.__annotations__)
