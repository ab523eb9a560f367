import sys, warnings
sys.path.insert(0, ".")
warnings.simplefilter("error")
import shop
assert shop.Basket.size == 1 and shop.keeps is None if hasattr(shop, "keeps") else True
import shop.util, shop.goods.basket
try:
    shop.util.Basket
except DeprecationWarning as warning:
    assert "3.0" in str(warning)
else:
    raise SystemExit("no warning")
warnings.simplefilter("ignore")
assert shop.util.Basket is shop.goods.basket.Basket is shop.Basket and shop.util.keeps() == 1
