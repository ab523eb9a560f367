try:
    import cupy as cp
    HAS = True
except ImportError:
    cp = None
