import lazy_loader

_load, __dir__, __all__ = lazy_loader.attach(__name__, submod_attrs={"core": ["load"]})


def __getattr__(name):
    if name.startswith("old_"):
        return name
    return _load(name)
