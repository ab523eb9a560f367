"""Its own `attach`, of which nobody knows what it gives."""
from .core import attach

__getattr__, __dir__, __all__ = attach(__name__, submodules=["core"], submod_attrs={"core": ["load"]})
