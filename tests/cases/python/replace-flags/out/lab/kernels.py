"""Uses the library and the flag."""

import math
from lab.gpu import HAS_CUPY

try:
    import cupy as cp
except ImportError:
    cp = None


def norm(values):
    if HAS_CUPY:
        return cp.linalg.norm(values)
    return math.hypot(*values)
