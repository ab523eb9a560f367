from .core import A
