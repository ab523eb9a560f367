import os
import sys
from decimal import Decimal

from shop import config
from shop.env import flag

KEY = "SHOP_KEY"

MERGED = os.environ.get("SHOP_MERGED", "")
UPDATED = os.environ.get("SHOP_UPDATED", "")
KEYED = os.environ.get(KEY, "")
HELPED = flag("SHOP_HELPED")
ARGUMENTS = len(sys.argv)
FOLDER = os.getcwd()
PATH = len(sys.path)
NUMBER = Decimal(1) / Decimal(3)
LEVEL = config.level
INSIDE = config.inside
QUIET = os.environ.get("SHOP_QUIET", "")
PLAIN = config.plain


def stays():
    return KEY
