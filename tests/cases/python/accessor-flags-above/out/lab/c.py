HAS_GPU: bool = False
from lab.gpu import get_cupy, has_cupy
cp = get_cupy()
HAS_GPU = has_cupy()
