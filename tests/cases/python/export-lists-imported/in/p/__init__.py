from .a import *
from .a import __all__ as _a_all
from .b import *
from .b import __all__ as _b_all
__all__ = _a_all + _b_all
