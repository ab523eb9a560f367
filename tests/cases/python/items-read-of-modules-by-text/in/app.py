import importlib

g = importlib.import_module("pkg.gpu")
print(g.count(), importlib.import_module("pkg.gpu").name())
