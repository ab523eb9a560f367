import sys


def test_fresh():
    for name in list(sys.modules):
        if name.startswith("shop.far"):
            del sys.modules[name]
