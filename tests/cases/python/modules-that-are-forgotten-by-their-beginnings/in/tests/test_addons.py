import sys

import shop


def test_addons():
    assert shop.__name__ == "shop"
    for name in list(sys.modules):
        if name.startswith("shop.addons."):
            # Each test loads them anew.
            del sys.modules[name]
