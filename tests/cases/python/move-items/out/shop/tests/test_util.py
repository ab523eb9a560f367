from unittest import mock

import shop.basket
from shop import basket as shop_basket
from shop.util import (
    other,
)
from shop.basket import Basket  # the basket


@mock.patch("shop.util.log")
def test_full(log):
    basket = Basket()
    for price in range(11):
        basket.add(price)
    assert log.call_count == 1
    assert shop.basket.price_of(basket) == 55
    assert shop_basket.ZERO == 0 and other() is not None
