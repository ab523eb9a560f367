"""Sets the flag first, and when the library works."""

from lab.gpu import HAS_CUPY

try:
    import cupy

    cupy.zeros(1)
except ImportError:
    pass


def backend():
    from lab.gpu import HAS_CUPY as reported

    return HAS_CUPY and reported
