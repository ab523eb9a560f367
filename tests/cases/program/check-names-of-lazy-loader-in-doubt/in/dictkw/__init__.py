import lazy_loader as lazy
_n = dict({"io": ["C"]}, core=["A"])
__getattr__, __dir__, __all__ = lazy.attach(__name__, submod_attrs=_n)
