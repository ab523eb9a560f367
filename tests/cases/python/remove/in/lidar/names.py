from .pool import Pool

__all__ = ["Pool"]
