"""Which GPUs there are, and how many: the oldest of three answers."""

import os

DEFAULT_DEVICE = "auto"
_manager = None


class GpuManager:
    """The device of this process."""

    def __init__(self):
        if os.environ.get("USE_CUDA") != "0" and os.path.isdir("/proc/driver/nvidia/gpus"):
            self.device = "cuda:0"
        else:
            self.device = "cpu:0"

    @property
    def is_gpu(self):
        return self.device.startswith("cuda")


def get_gpu_manager():
    """The manager of this process."""
    global _manager
    if _manager is None:
        _manager = GpuManager()
    return _manager


def check_gpu_available():
    """Whether there is a GPU."""
    return get_gpu_manager().is_gpu


def detect_gpu_backends():
    """The names of what there is, the processor last."""
    found = []
    if os.path.isdir("/proc/driver/nvidia/gpus"):
        found.append("cuda")
    if os.path.exists("/dev/kfd"):
        found.append("rocm")
    found.append("cpu")
    return found
