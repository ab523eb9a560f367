import importlib

util = importlib.import_module("shop.util")
