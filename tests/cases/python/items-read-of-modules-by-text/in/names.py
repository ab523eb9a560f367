import importlib

print(importlib.import_module("pkg.gpu").name(), [1].count(1))
