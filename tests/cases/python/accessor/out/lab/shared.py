from lab.core.gpu import get_cupy as _get_cupy, has_cupy as _has_cupy
cp = _get_cupy()
AVAILABLE = _has_cupy()
