try:
    from cupy import ndarray
except ImportError:
    ndarray = None
