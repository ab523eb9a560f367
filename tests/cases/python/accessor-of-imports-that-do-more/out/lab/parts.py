try:
    import cupy as cp
    import cupyx
except ImportError:
    cp = None
