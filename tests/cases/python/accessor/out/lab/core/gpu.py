"""The one place that imports CuPy."""

try:
    import cupy as _cupy
except ImportError:
    _cupy = None


def get_cupy():
    """CuPy, or `None` where it is not installed."""
    return _cupy


def has_cupy():
    return _cupy is not None
