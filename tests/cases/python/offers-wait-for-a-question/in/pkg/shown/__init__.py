"""It lists its own names."""

from .solver import Solver

__all__ = [name for name in dir() if not name.startswith("_")]
