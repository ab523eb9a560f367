from . import rest
from .rest import *

__all__ = [*rest.__all__]


def g():
    return 2
