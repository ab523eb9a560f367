import os

from . import cpu as impl

if os.environ.get("BM_FIRST"):
    from . import gpu as impl
    warmed = impl.warm(1)

value = impl.run(1)


def go(x):
    return impl.run(x)


def late():
    global impl
    from . import gpu as impl
