from .compat import HAS_PYNVML, pynvml

READY = "yes" if HAS_PYNVML else "no"


def devices():
    return pynvml.nvmlDeviceGetCount() if HAS_PYNVML else 0
