import lazy_loader as lazy
_m = ["core", "io"]
_e = lambda m: {"core": ["A"], "io": ["C"]}[m]
_n = {m: _e(m) for m in _m}
__getattr__, __dir__, __all__ = lazy.attach(__name__, submodules=_m, submod_attrs=_n)
