from .operator import *
from .med.least import solve
