import lazy_loader as lazy
from ._names import _n
try:
    pass
except Exception:
    _n = {"core": ["A"]}
__getattr__, __dir__, __all__ = lazy.attach(__name__, submod_attrs=_n)
