"""Loads no writer by itself."""
from pkg.io import layout
from pkg.io import writer
from . import writer as base

WIDTH = layout.WIDTH


class Molden(writer.Writer):
    pass


class Xyz(base.Writer):
    pass
