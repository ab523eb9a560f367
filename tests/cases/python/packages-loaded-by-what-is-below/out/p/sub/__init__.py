from .mix.geometry.flip import *
from .mix import geometry  # noqa: F401  # coalesce: shim attribute m
