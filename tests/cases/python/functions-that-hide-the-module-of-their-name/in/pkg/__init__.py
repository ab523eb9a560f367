from .policy import policy
from . import policy as rule
from . import later
from .later import later
from .fmt import *
