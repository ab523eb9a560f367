"""Uses the flag alone."""

from lab.gpu import HAS_CUPY

BACKEND = "cupy" if HAS_CUPY else "numpy"
