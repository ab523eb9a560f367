import os

LEVEL = os.environ.get("SHOP_LEVEL")


def level():
    return LEVEL
