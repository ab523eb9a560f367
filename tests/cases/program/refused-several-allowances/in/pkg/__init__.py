"""Shapes."""
from .core import area, edge
