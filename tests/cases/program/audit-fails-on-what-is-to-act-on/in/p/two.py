"""Number two."""

try:
    import cupy

    GPU_AVAILABLE = cupy.cuda.runtime.getDeviceCount() > 0
except ImportError:
    GPU_AVAILABLE = False


def work_two():
    return GPU_AVAILABLE
