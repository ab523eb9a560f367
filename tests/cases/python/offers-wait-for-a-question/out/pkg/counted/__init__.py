"""Somebody takes all that it lists."""

from .solver import Solver

__all__ = ["Solver"]
