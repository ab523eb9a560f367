import importlib
import sys

import shop.settings


def test_debug(monkeypatch):
    monkeypatch.setenv("SHOP_DEBUG", "1")
    importlib.reload(shop.settings)
    assert shop.settings.debug()


def test_level(monkeypatch):
    monkeypatch.setenv("SHOP_LEVEL", "3")
    sys.modules.pop("shop.again", None)
    import shop.again
    assert shop.again.level() == "3"
