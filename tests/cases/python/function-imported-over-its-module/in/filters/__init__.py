from . import blur
from .blur import blur
