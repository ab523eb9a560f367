import warnings

from .legacy.auth import *  # noqa: F403

warnings.warn("pkg.warned is deprecated", DeprecationWarning)
