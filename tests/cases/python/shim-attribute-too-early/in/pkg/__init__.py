from .operator import *
from .opt.least import solve
