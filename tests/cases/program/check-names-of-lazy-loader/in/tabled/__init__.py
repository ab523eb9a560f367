from lazy_loader import attach

__getattr__, __dir__, __all__ = attach(__name__, submodules=["core"], submod_attrs={"core": ["load"]})
