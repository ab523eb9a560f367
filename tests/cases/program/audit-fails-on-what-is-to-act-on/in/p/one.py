"""Number one."""

try:
    import cupy

    GPU_AVAILABLE = cupy.cuda.runtime.getDeviceCount() > 0
except ImportError:
    GPU_AVAILABLE = False


def work_one():
    return GPU_AVAILABLE
