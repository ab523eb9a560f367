import functools


@functools.cache
def get_cupy():
    try:
        import cupy
    except ImportError:
        return None
    return cupy


def has_cupy():
    return get_cupy() is not None
