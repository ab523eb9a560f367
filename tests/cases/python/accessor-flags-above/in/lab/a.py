"""A."""

import math

HAS_GPU = False
try:
    import cupy as cp
    HAS_GPU = True
except ImportError:
    cp = None

xp = cp or math
