import os

try:
    import cupy as _cupy
except ImportError:
    _cupy = None


def get_cupy():
    if os.environ.get("NO_GPU"):
        return None
    return _cupy


def switched():
    global _cupy
    _cupy = None


def wants(device):
    return _cupy


async def later():
    return _cupy
