try:
    import cupy as cp
except ImportError:
    cp = None
finally:
    DONE = True
