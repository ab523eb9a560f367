"""Shapes."""
from .core import edge
from .plots import area
