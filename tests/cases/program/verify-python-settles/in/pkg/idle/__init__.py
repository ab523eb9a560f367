from pkg.tools import KINDS

KINDS.sort()
