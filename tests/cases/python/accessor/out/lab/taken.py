def get_cupy():
    return "mine"


from lab.core.gpu import get_cupy as _get_cupy
cp = _get_cupy()
