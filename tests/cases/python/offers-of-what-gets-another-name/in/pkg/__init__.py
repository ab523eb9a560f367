from .core import Engine, start
from . import other
