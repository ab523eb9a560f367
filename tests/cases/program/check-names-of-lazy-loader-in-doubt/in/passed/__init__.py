import lazy_loader as lazy
from ._fill import fill
_n = {"io": ["C"]}
fill(_n)
__getattr__, __dir__, __all__ = lazy.attach(__name__, submod_attrs=_n)
