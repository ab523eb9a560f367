from .core import Optic, focus
from .program import Tool
from .waves import Plane, Wave
from .core import Sine
