"""Offers what stands below it."""

from .common import base
from .solver import Solver, solve

__all__ = ["Solver", "base", "solve"]
