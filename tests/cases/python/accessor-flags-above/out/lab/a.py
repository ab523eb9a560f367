"""A."""

import math

from lab.gpu import get_cupy, has_cupy
cp = get_cupy()
HAS_GPU = has_cupy()

xp = cp or math
