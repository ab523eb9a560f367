"""Everything."""

import json
import os
from decimal import Decimal
from typing import List

LIMIT = 10

# What one may have to pay.
ZERO = Decimal(0)


def log(text):
    print(text, os.getpid())


# A basket is a list
# with a sum.
class Basket:
    """What a customer takes.

    >>> from shop.util import Basket
    """

    def __init__(self):
        self.prices: List[Decimal] = []

    def add(self, price):
        if len(self.prices) >= LIMIT:
            log("full")
        self.prices.append(price)


def total(basket: Basket) -> Decimal:
    return sum(basket.prices, ZERO)


def other():
    return json.dumps(total(Basket()))
