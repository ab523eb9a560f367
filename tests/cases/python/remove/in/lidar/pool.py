from .memory import *
from . import names


class Pool:
    pass
