import sys

sys.path.insert(0, ".")
from lab import a, b, c

assert (a.cp, a.HAS_GPU) == (b.cp, b.HAS_GPU) == (c.cp, c.HAS_GPU) == (None, False)
