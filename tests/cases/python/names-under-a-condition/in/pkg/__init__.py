"""What a branch binds may not be there: it is read where it is used, not imported at once."""
from .curves import Transform, norm
