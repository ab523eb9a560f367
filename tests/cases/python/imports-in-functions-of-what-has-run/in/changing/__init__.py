from changing.points import shift
from changing.config import shifted
