from . import rest
from .rest import *

__all__ = ["g"] + ["f"] + rest.__all__


def f():
    return 1


def g():
    return 2
