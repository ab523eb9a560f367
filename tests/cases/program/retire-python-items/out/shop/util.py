"""All sorts of things."""

from shop.basket import Basket
from shop.prices import price

__all__ = ["Basket", "price", "stays"]


def stays():
    return price(Basket())
