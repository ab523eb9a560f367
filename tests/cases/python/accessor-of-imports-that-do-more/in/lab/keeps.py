try:
    import cupy as cp
except ImportError as error:
    cp = None
