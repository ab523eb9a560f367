"""Uses the library and the flag."""

import math

try:
    import cupy as cp

    HAS_CUPY = True
except ImportError:
    cp = None
    HAS_CUPY = False


def norm(values):
    if HAS_CUPY:
        return cp.linalg.norm(values)
    return math.hypot(*values)
