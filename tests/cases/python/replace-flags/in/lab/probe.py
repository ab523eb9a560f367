"""Sets the flag first, and when the library works."""

HAS_CUPY = False

try:
    import cupy

    cupy.zeros(1)
    HAS_CUPY = True
except ImportError:
    pass


def backend():
    from lab.report import HAS_CUPY as reported

    return HAS_CUPY and reported
