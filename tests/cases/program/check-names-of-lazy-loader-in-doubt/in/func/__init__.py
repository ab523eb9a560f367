import lazy_loader as lazy
_n = {"io": ["C"]}
def _fill():
    _n["core"] = ["A"]
_fill()
__getattr__, __dir__, __all__ = lazy.attach(__name__, submod_attrs=_n)
