# without it
# whether it is there
from lab.gpu import get_cupy, has_cupy
cp = get_cupy()
HAS_GPU = has_cupy()
