"""The one GPU module."""

import logging

__all__ = ["LIMIT", "detect", "spread"]

logger = logging.getLogger(__name__)
LIMIT = 1_000_000


def detect():
    """Whether there is one."""
    try:
        import cupy
    except ImportError:
        return False
    return cupy.cuda.is_available()


def spread(values):
    k = len(values)
    mean = sum(values) / k
    return sum((value - mean) ** 2 for value in values) / k
