HAS_GPU = True
try:
    import cupy as cp
    HAS_GPU = True
except ImportError:
    cp = None
