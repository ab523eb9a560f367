"""Tasks of the tests."""

import os

import core_gpu
from core_gpu.worker import task


@task
def where():
    """What this worker sees."""
    names = tuple(device.name for device in core_gpu.devices() if device.is_gpu)
    return os.environ.get("CUDA_VISIBLE_DEVICES"), names
