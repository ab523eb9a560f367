import lazy_loader as lazy
import sys
if sys.platform != "win32":
    _n = {"core": ["A", "B"]}
else:
    _n = {"core": ["A"]}
__getattr__, __dir__, __all__ = lazy.attach(__name__, submod_attrs=_n)
