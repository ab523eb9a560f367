import lazy_loader as lazy
from ._mine import lazy
__getattr__, __dir__, __all__ = lazy.attach(__name__, submod_attrs={"core": ["A"]})
