from pkg import gpu
from pkg.core import hw


def r():
    return hw.count()
