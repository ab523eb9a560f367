"""Which GPU libraries there are."""


def _has_cupy():
    try:
        import cupy
    except ImportError:
        return False
    return cupy is not None


HAS_CUPY = _has_cupy()
