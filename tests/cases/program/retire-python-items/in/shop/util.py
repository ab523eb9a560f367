"""All sorts of things."""

__all__ = ["Basket", "total", "price", "stays"]

ZERO = 0


class Basket:
    pass


def total(basket: Basket):
    return ZERO


def price(basket):
    return total(basket)


def stays():
    return price(Basket())
