"""Loads no writer by itself."""
from pkg.io import layout

WIDTH = layout.WIDTH
