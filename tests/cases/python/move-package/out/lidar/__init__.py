from .core.gpu import pool
from .core.gpu.deep.leaf import leaf
