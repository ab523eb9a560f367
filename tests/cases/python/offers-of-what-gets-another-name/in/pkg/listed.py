from .core import start as start

__all__ = ["start"]
