from .events import *
from .futures import *
__all__ = (events.__all__ +
           futures.__all__)
