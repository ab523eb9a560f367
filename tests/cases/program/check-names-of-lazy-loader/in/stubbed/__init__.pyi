from .core import load
