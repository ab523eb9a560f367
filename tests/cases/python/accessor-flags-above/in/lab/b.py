# without it
cp = None
# whether it is there
HAS_GPU = False

try:
    import cupy as cp

    HAS_GPU = True
except ImportError:
    pass
