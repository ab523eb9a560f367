import os

from . import gpu as impl
from . import warming

first = warming.warm(2)

if os.environ.get("BM_GPU"):
    from . import gpu as impl
else:
    from . import cpu as impl


def go(x):
    return impl.launch(x), impl.NAME
