"""A shop."""

from .util import Basket, other, total

__all__ = ["Basket", "other", "total"]
