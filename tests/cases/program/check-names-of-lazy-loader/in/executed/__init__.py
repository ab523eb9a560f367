import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submod_attrs={"core": ["load"]})
globals().update(extra=1)
