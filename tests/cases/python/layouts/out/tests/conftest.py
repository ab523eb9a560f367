from demo.kernels import run
from helpers import help_me
