"""Needs something else of the second."""

from .second import other

NAME_c = other("c")
