try:
    import cupy as cp
except ModuleNotFoundError:
    cp = None
