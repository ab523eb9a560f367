import logging

from shop.a import warn
from shop.quiet import tell

logging.getLogger("shop.net").setLevel(logging.ERROR)
warn("x")
tell("y")
