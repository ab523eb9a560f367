"""Somebody takes all of it."""

from .solver import Solver
