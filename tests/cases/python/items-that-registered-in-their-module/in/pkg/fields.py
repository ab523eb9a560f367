"""Has one class, which registers itself wherever it stands."""
from pkg.base import Field


class Vector(Field):
    pass
