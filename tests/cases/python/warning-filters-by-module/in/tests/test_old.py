import pytest

from shop.quiet import calm


@pytest.mark.filterwarnings("ignore:discounts:DeprecationWarning:shop.quiet$")
def test_calm():
    assert calm(2) == 3
