import importlib

from app import table

old = importlib.import_module("app.old")
print(old.start(1), {"table": table}["table"].show(1))
