try:
    import cupy as cp
except Exception:
    cp = None
