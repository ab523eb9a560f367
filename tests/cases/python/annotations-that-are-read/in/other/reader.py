from other.plain import Read

TYPES = dict(Read.__annotations__)
