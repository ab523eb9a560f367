"""A shop."""

from .util import other
from .basket import Basket, price_of as total

__all__ = ["Basket", "other", "total"]
