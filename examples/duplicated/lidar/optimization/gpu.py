"""Detects the GPU, once more."""


def get_manager():
    """The manager; made before `lidar.core.gpu` was."""
    from ..core.gpu import GpuManager

    return GpuManager()


def gpu_available():
    try:
        import cupy

        return cupy.cuda.runtime.getDeviceCount() > 0
    except Exception:
        return False
