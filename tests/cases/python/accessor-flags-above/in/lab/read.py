try:
    import cupy as cp
except ImportError:
    pass
