from decimal import Decimal
from typing import List

# What one may have to pay.
ZERO = Decimal(0)


# A basket is a list
# with a sum.
class Basket:
    """What a customer takes.

    >>> from shop.basket import Basket
    """

    def __init__(self):
        self.prices: List[Decimal] = []

    def add(self, price):
        from shop.util import LIMIT
        from shop import util as shop_util
        if len(self.prices) >= LIMIT:
            shop_util.log("full")
        self.prices.append(price)


def price_of(basket: Basket) -> Decimal:
    return sum(basket.prices, ZERO)
