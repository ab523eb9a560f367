try:
    import cupy as cp
    AVAILABLE = True
except ImportError:
    cp = None
    AVAILABLE = False
