try:
    import cupy as cp
except (ImportError, RuntimeError):
    cp = None
