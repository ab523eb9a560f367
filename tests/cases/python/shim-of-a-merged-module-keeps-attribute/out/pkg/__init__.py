from . import user
from . import new as old  # noqa: F401  # coalesce: shim attribute m
