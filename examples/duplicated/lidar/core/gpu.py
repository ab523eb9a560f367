"""The GPU of this process: is there one, and how much memory does it have?"""
import threading


class GpuManager:
    """One for each process."""

    _instance = None
    _lock = threading.Lock()

    def __new__(cls):
        with cls._lock:
            if cls._instance is None:
                cls._instance = super().__new__(cls)
                cls._instance.available = _detect()
        return cls._instance

    def memory_bytes(self):
        if not self.available:
            return 0
        import cupy

        return cupy.cuda.Device().mem_info[1]


def get_manager():
    """The manager of this process."""
    return GpuManager()


def require_gpu():
    """Raises unless there is a device."""
    if not get_manager().available:
        raise RuntimeError("no CUDA device")


def _detect():
    try:
        import cupy
    except ImportError:
        return False
    try:
        return cupy.cuda.runtime.getDeviceCount() > 0
    except cupy.cuda.runtime.CUDARuntimeError:
        return False
