"""GPU helpers."""

import logging
import math as mathematics
from typing import Optional

from . import units

__all__ = ["LIMIT", "detect", "spread", "batches", "Pool"]

logger = logging.getLogger(__name__)

try:
    import cupy as cp

    HAS_CUPY = True
except ImportError:
    cp = None
    HAS_CUPY = False

LIMIT = 10_000_000
_STEP = 1024


def _rounded(count):
    return mathematics.ceil(count / _STEP) * _STEP


def _only_spread(values):
    return sum(values) / len(values)


def detect():
    # Another comment.
    try:
        import cupy
    except ImportError:
        return False
    return cupy.cuda.is_available()


def spread(values, mean=None):
    k = len(values)
    mean = _only_spread(values) if mean is None else mean
    return sum((value - mean) ** 2 for value in values) / (k - 1)


def batches(count: int, size: Optional[int] = None):
    """Yields pieces of at most `size`."""
    logger.debug("batches of %s", count)
    size = size or _rounded(units.BYTES)
    for start in range(0, count, size):
        yield start, min(start + size, count)


class Pool:
    """Memory that is used again."""

    on_device = HAS_CUPY

    def take(self, count):
        return cp.zeros(count) if HAS_CUPY else [0] * count
