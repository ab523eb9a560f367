import pkg.run as runner
from pkg import keeps, run


def f():
    """
    >>> from pkg import run
    >>> run.gpu.count()
    2
    """
    return run.gpu.count(), runner.gpu.count(), keeps.g.count(), keeps.g.name()
