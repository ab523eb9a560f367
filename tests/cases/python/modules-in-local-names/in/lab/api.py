from . import cpu as cpu_ops
from . import gpu as gpu_ops


def run(fast):
    module = gpu_ops if fast else None
    if module is not None:
        return module.dispatch()
    return 0


def given(fast):
    module = cpu_ops if fast else None
    return module
