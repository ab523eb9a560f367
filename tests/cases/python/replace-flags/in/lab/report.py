"""Uses the flag alone."""

try:
    import cupy
    HAS_CUPY = True
except ImportError:
    HAS_CUPY = False

BACKEND = "cupy" if HAS_CUPY else "numpy"
