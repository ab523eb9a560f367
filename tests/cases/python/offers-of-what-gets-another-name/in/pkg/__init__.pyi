from . import other as other
from .core import Engine as Engine, start as start
