import os

from . import gpu as impl

first = impl.warm(2)

if os.environ.get("BM_GPU"):
    from . import gpu as impl
else:
    from . import cpu as impl


def go(x):
    return impl.run(x), impl.NAME
