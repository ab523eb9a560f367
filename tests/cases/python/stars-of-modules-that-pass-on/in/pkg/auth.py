from .legacy.auth import *
from .legacy.auth import __all__
