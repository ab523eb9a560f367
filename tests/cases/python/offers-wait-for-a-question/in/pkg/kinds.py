import pkg.registering
from pkg.registering.common import KINDS

FIRST = KINDS[0]
