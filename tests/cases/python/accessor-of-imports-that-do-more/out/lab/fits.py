from lab.core.gpu import get_cupy
cp = get_cupy()
