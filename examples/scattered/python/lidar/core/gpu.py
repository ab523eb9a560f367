"""Which GPUs there are: the home."""

import functools
import os

DEFAULT_DEVICE = "auto"


class GpuManager:
    """The device of this process."""

    def __init__(self):
        self.device = "cuda:0" if is_gpu_available() else "cpu:0"

    @property
    def is_gpu(self):
        return self.device != "cpu:0"


def detect_available_backends():
    """The names of what there is, the processor last."""
    found = ["cuda"] if os.path.isdir("/proc/driver/nvidia/gpus") else []
    if os.path.exists("/dev/kfd"):
        found.append("rocm")
    return found + ["cpu"]


def is_gpu_available():
    """Whether there is a GPU that the environment does not forbid."""
    return os.environ.get("USE_CUDA") != "0" and len(detect_available_backends()) > 1


@functools.lru_cache(maxsize=None)
def gpu_manager():
    """The manager of this process."""
    return GpuManager()
