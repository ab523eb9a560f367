import pkg.ops
from pkg.table import TABLE


def go():
    return sorted(TABLE)
