try:
    import cupy as cp
    cp.cuda.runtime.getDeviceCount()
except ImportError:
    cp = None
