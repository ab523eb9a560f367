try:
    import cupy
except ImportError:
    cupy = None

try:
    import torch
except ImportError:
    torch = None


def name():
    return "cpu" if cupy is None else cupy.__name__
