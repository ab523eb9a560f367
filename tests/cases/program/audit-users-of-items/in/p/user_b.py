"""Needs something else of the second."""

from .second import other

NAME_b = other("b")
