"""Shapes."""
from .plots import area
from . import core  # noqa: F401
