from .core import A, B
