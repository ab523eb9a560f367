import functools


@functools.cache
def get_torch():
    try:
        import torch
    except ImportError:
        return None
    return torch
