from . import rest
from .rest import *

__all__ = ["g"] + [] + rest.__all__


def g():
    return 2
