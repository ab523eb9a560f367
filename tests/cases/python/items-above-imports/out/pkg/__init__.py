"""Says what its modules may ask for before they are imported."""


class Failure(Exception):
    pass


class Axis:
    def __init__(self, name):
        if not name:
            raise Failure(name)
        self.name = name


from .use import parse
from . import parsing  # noqa: F401
