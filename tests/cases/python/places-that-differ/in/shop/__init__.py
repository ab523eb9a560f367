from . import main
from . import tail
