from lab.core.gpu import get_cupy
cupy = get_cupy()

from lab.core.lazy import get_torch
torch = get_torch()


def name():
    return "cpu" if cupy is None else cupy.__name__
