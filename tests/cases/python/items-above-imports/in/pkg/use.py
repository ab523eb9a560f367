from . import Failure
from .parsing import Axis

DEFAULT = Axis("default")


def parse(name):
    return Axis(name) if name else Failure(name)
