import lazy_loader as lazy
_t = {"submodules": ["io"], "submod_attrs": {"core": ["A"]}}
__getattr__, __dir__, __all__ = lazy.attach(__name__, **_t)
