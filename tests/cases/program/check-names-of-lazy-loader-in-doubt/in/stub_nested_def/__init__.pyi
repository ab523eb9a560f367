from .core import A
def g():
    from .core import B
