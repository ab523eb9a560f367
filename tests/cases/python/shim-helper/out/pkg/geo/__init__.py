from ..lie import *
from .. import lie  # noqa: F401  # coalesce: shim attribute m
