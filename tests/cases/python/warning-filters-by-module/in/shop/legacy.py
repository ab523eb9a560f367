"""Legacy."""
from shop.old import discount


def sale(count):
    return discount(count)
