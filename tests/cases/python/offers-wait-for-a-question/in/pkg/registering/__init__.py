"""What importing it registers is not registered any more when nobody has asked."""

from .solver import Solver
