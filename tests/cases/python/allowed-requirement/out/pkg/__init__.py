"""Shapes."""
from .plots import area
