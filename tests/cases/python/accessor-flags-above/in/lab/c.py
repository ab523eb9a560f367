HAS_GPU: bool = False
try:
    import cupy as cp
except ImportError:
    cp = None
else:
    HAS_GPU = True
