from pkg.a import Field, Stay
import pkg.b
from pkg.registry import KINDS


def names():
    return sorted(KINDS)
