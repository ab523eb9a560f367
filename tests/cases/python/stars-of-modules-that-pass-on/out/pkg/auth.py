from .legacy.auth import *
from .legacy.made import Auth
from .legacy.auth import __all__
