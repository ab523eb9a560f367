try:
    import cupy as cp
    HAS = True
except ImportError:
    HAS = False
