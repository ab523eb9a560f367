import lazy_loader as lazy
_n = {"io": ["C"]}
_x = _n
_x["core"] = ["A"]
__getattr__, __dir__, __all__ = lazy.attach(__name__, submod_attrs=_n)
