from . import maths
from . import words
from . import plain
