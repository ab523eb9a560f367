"""Has one class, which registers itself wherever it stands, and later or earlier than others."""
from pkg.base import Field


class Vector(Field):
    pass
