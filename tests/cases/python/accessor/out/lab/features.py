"""Features."""
import math

# What the tests look at.
from lab.core.gpu import get_cupy, has_cupy
cp = get_cupy()
GPU = has_cupy()
HAS_CUPY = has_cupy()

xp = cp if HAS_CUPY else math


def norm(values):
    return xp.sqrt(sum(value * value for value in values))
