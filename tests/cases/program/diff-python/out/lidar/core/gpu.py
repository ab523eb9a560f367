import numpy
from lidar.errors import GpuError

CHUNK = 10_000_000

try:
    import cupy as cp
    GPU_AVAILABLE = True
except ImportError:
    GPU_AVAILABLE = False


def split(points):
    # Halves are enough.
    if len(points) > CHUNK:
        return halves(points)
    return [points]


def is_available():
    return HAS_CUPY


def covariance(points, k):
    centered = points - numpy.mean(points, axis=0)
    return centered.T @ centered / (k - 1)


class Pool:
    def __init__(self, size=20):
        self.size = size

    def allocate(self, count):
        item = self.find(count)
        if item is None:
            raise GpuError("too little room for <%d>" % count)
        return item

    def free(self):
        return self.size
