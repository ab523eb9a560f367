"""Nobody imports it: what it asks for was there once."""
from pkg.made import ops


class Base:
    width = ops


class Gate(Base):
    pass


class Other(Base):
    pass
