import importlib
import sys

from shop import listed, other, table


def test_table():
    importlib.reload(sys.modules["shop.table"])
    assert table.stays()


def test_listed():
    for module in (listed,):
        importlib.reload(module)


def test_other():
    assert "shop.other" in sys.modules
