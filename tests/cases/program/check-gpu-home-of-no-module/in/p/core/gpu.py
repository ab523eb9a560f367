import cupy


def has_gpu():
    return cupy.cuda.runtime.getDeviceCount() > 0
