"""A star import brings another thing of that name."""

from .other import *
from .solver import Solver
