import warnings

from .legacy.auth import *  # noqa: F403
from .legacy.made import Auth

warnings.warn("pkg.warned is deprecated", DeprecationWarning)
