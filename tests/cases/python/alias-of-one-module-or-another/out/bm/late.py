import os

from . import cpu as impl

if os.environ.get("BM_FIRST"):
    from . import gpu as impl
    from . import warming
    warmed = warming.warm(1)

value = impl.launch(1)


def go(x):
    return impl.launch(x)


def late():
    global impl
    from . import gpu as impl
