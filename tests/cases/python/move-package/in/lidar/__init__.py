from .gpu import pool
from .gpu.deep.leaf import leaf
