import math

from .core import Optic
from .program import Tool


class Wave(Optic):
    tool = Tool


class Sine(Wave):
    period = 2 * math.pi
