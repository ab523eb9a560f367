import shop.basket
import shop.prices
import shop.util

assert shop.util.stays() == 0
assert shop.util.__all__ == ["Basket", "price", "stays"], shop.util.__all__
assert not hasattr(shop.util, "ZERO")
