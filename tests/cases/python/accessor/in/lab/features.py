"""Features."""
import math

try:
    import cupy as cp  # noqa: F401

    # What the tests look at.
    HAS_CUPY = True
    GPU = True
except ImportError:  # pragma: no cover
    cp = None
    HAS_CUPY = False
    GPU = False

xp = cp if HAS_CUPY else math


def norm(values):
    return xp.sqrt(sum(value * value for value in values))
