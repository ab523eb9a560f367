import pkg.run as runner
from pkg.core import hw
from pkg import keeps, run


def f():
    """
    >>> from pkg import run
    >>> from pkg.core import hw
    >>> hw.count()
    2
    """
    return hw.count(), hw.count(), hw.count(), keeps.g.name()
