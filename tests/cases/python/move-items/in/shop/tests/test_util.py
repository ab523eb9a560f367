from unittest import mock

import shop.util
from shop import util
from shop.util import (
    Basket,  # the basket
    other,
)


@mock.patch("shop.util.log")
def test_full(log):
    basket = Basket()
    for price in range(11):
        basket.add(price)
    assert log.call_count == 1
    assert shop.util.total(basket) == 55
    assert util.ZERO == 0 and other() is not None
