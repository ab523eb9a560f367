import sys
from typing import TYPE_CHECKING
from ..lazy import LazyModule

_import_structure = {}
_import_structure["ddim"] = ["DDIM"]

if TYPE_CHECKING:
    from .ddim import DDIM
else:
    sys.modules[__name__] = LazyModule(__name__, globals()["__file__"], _import_structure, __spec__)
