"""Needs something else of the second."""

from .second import other

NAME_a = other("a")
