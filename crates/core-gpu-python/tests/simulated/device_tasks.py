"""Tasks of the tests."""

import os
import time

import core_gpu
from core_gpu.worker import task


@task
def where(folder, workers):
    """What this worker sees, once so many of them are at it: so that no one does all tasks."""
    open(os.path.join(folder, str(os.getpid())), "w").close()
    while len(os.listdir(folder)) < workers:
        time.sleep(0.01)
    names = tuple(device.name for device in core_gpu.devices() if device.is_gpu)
    return os.environ.get("CUDA_VISIBLE_DEVICES"), names
