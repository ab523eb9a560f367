try:
    import cupy as cp
except ImportError:
    cp = None
except OSError:
    cp = None
