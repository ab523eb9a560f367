HAS_GPU = False
print(HAS_GPU)
try:
    import cupy as cp
    HAS_GPU = True
except ImportError:
    cp = None
