"""Work that uses a GPU where there is one: the home."""

import contextlib
import functools

from .gpu import gpu_manager, is_gpu_available


class NoGpu(RuntimeError):
    """There is none."""


def accelerated(fallback):
    """Calls the function where there is a GPU, and `fallback` where there is none or it fails."""

    def around(function):
        @functools.wraps(function)
        def call(*arguments, **named):
            if is_gpu_available():
                try:
                    return function(*arguments, **named)
                except RuntimeError:
                    pass
            return fallback(*arguments, **named)

        return call

    return around


def require_gpu():
    """The device, or an error."""
    if not is_gpu_available():
        raise NoGpu("there is no GPU")
    return gpu_manager().device


@contextlib.contextmanager
def gpu_scope():
    """The device for a while, `None` where there is none."""
    yield gpu_manager().device if is_gpu_available() else None
