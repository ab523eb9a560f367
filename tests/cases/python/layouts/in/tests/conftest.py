from demo.legacy.kernels import run
from helpers import help_me
