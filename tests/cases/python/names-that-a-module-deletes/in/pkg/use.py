from pkg.tools import make, size

FIRST = make(3)
SIZE = size(2)
del make, size
