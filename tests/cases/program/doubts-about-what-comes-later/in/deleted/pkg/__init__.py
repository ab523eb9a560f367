from .core import Optic, focus
from .program import Tool
from .waves import Sine, Wave
