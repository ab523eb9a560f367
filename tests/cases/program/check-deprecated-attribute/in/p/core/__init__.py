from .home import detect
from . import home as gpu  # noqa: F401  # coalesce: shim attribute move-p.core.gpu
