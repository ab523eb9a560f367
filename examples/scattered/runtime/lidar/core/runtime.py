"""The GPU of this process, by the runtime's Python package: nothing here looks for devices itself."""

import functools
import os

import core_gpu

DEFAULT_DEVICE = "auto"


class GpuManager:
    """The device of this process, open."""

    def __init__(self):
        self.gpu = core_gpu.open_best() if is_gpu_available() else core_gpu.Gpu.open("cpu")
        self.device = self.gpu.name if self.gpu.is_gpu else "cpu:0"

    @property
    def is_gpu(self):
        return self.gpu.is_gpu


def detect_available_backends():
    """The names of what there is, the processor last."""
    platforms = [device.platform for device in core_gpu.devices() if device.is_gpu]
    return list(dict.fromkeys(platforms)) + ["cpu"]


def is_gpu_available():
    """Whether there is a GPU that the environment does not forbid."""
    return os.environ.get("USE_CUDA") != "0" and core_gpu.is_gpu_available()


@functools.lru_cache(maxsize=None)
def gpu_manager():
    """The manager of this process."""
    return GpuManager()


class GpuMemoryPool:
    """Blocks of the device's memory, from the runtime's pool."""

    def take(self, size):
        return gpu_manager().gpu.allocate([size], "uint8")

    def give(self, block):
        """The block goes back when nobody has it any more."""

    def trim(self):
        return gpu_manager().gpu.trim()


_POOL = GpuMemoryPool()


def get_gpu_memory_pool():
    """The pool of this process."""
    return _POOL


def cleanup_gpu_memory():
    """Gives back what is not in use; how many bytes."""
    return _POOL.trim()
