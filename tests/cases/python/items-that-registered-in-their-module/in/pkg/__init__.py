from pkg.fields import Vector
from pkg.other import Scalar
from pkg.notes import note
from pkg.plot import draw
