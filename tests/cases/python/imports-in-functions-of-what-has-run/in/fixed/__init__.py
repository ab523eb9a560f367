from fixed.points import shift
from fixed.config import shifted
