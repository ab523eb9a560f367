import importlib
import logging

logging.basicConfig(format="%(name)s")
importlib.import_module("shop.written")
