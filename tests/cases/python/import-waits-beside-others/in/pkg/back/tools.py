"""Needs what it imports at once."""
from pkg.show.far import Shape


class Other(Shape):
    pass
