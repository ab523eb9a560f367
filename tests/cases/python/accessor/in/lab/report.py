from lab.features import HAS_CUPY, cp


def line():
    try:
        import cupy
    except ImportError:
        return f"no CuPy {HAS_CUPY}"
    return cupy.__name__
