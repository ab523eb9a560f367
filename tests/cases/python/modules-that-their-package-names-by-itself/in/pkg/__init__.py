from .reader import *
from .writer import *

__all__ = reader.__all__ + ["write"]


def version():
    return reader.VERSION
