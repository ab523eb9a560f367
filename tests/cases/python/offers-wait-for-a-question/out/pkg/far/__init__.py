"""Offers what stands below it."""

from .common import base
from ..near import solver  # noqa: F401  # coalesce: shim attribute with-a-shim


def __getattr__(name):
    if name == "Solver":
        from ..near.solver import Solver

        return Solver
    if name == "solve":
        from ..near.solver import solve

        return solve
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["Solver", "base", "solve"]
