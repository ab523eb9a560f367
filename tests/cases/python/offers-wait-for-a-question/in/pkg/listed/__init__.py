"""Somebody lists its names."""

from .solver import Solver
