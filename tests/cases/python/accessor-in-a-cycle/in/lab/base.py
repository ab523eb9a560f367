try:
    import cupy as cp
except ImportError:
    cp = None

LIMIT = 3
