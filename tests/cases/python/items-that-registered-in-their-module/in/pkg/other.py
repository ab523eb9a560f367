"""Has another one, which stays, and is imported for that alone."""
from pkg.base import Field


class Scalar(Field):
    pass


class Tensor(Field):
    pass
