from . import blur
from .blur import blur as soften
