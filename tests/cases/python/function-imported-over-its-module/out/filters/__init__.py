from .soft import blur
from .soft.blur import blur
