# coalesce: allow(unresolved-internal-import, the plugin makes it)
from p.gone import x
from p.gone import y  # coalesce: allow(unresolved-internal-import, and this one)
import os  # coalesce: allow(unresolved-internal-import, nothing is wrong here)
from p.gone import z  # coalesce: allow(unresolved-internal-import)
import sys  # coalesce: allow(unresolved-import, a slip)

TEXT = "# coalesce: allow(forbidden-path, a text)"


# coalesce: allow(duplicate, the finder reads it)
def f():
    return os, sys, x, y, z
