"""Features on the device."""
import numpy as np
from ..errors import GpuError

CHUNK = 1_000_000

try:
    import cupy as cp
    import cuml
    GPU_AVAILABLE = True
except ImportError:
    GPU_AVAILABLE = False


def covariance(points, k):
    """Of a neighbourhood."""
    centered = points - np.mean(points, axis=0)
    return centered.T @ centered / k


def is_available():
    return HAS_CUPY and HAS_CUML


def split(points):
    if len(points) > CHUNK:
        return halves(points)
    return [points]


class Pool:
    def __init__(self, size=10):
        self.size = size

    def allocate(self, count):
        block = self.find(count)
        if block is None:
            raise GpuError("no room for <%d>" % count)
        return block


def only_here(values):
    return sorted(values)
