"""Needs it for itself, too."""

from .solver import Solver

DEFAULT = Solver()
