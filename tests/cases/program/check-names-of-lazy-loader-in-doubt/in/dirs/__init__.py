import lazy_loader as lazy
from . import core
_n = {"core": [n for n in dir(core) if not n.startswith("_")]}
__getattr__, __dir__, __all__ = lazy.attach(__name__, submod_attrs=_n)
