"""Work that uses a GPU where there is one, with a detection of its own."""

import contextlib
import functools
import os


class GpuRequiredError(RuntimeError):
    """There is none."""


def check_gpu_available():
    return os.environ.get("USE_CUDA") != "0" and os.path.isdir("/proc/driver/nvidia/gpus")


def gpu_accelerated(fallback):
    """Calls the function where there is a GPU, and `fallback` where there is none or it fails."""

    def around(function):
        @functools.wraps(function)
        def call(*arguments, **named):
            if check_gpu_available():
                try:
                    return function(*arguments, **named)
                except RuntimeError:
                    pass
            return fallback(*arguments, **named)

        return call

    return around


def require_gpu():
    """The device, or an error."""
    if not check_gpu_available():
        raise GpuRequiredError("there is no GPU")
    return "cuda:0"


@contextlib.contextmanager
def gpu_context():
    """The device for a while, `None` where there is none."""
    yield "cuda:0" if check_gpu_available() else None
