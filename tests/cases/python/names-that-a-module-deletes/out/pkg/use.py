from pkg.tools import make, size
from pkg.tools import size as tools_size

FIRST = make(3)
SIZE = size(2)
del make, size


def sizes():
    return tools_size(1)
