"""Says what its modules may ask for before they are imported."""


class Failure(Exception):
    pass


from .use import parse
