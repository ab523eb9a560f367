import importlib

A = importlib.import_module("%s.backends.%s" % ("parts", "hip"))
B = importlib.import_module("parts.backends.%s" % "hip")
C = importlib.import_module("parts.{}.hip".format("backends"))
D = importlib.import_module(".".join(["parts", "backends", "hip"]))
E = importlib.import_module("parts" + ".%s" % "backends")
F = importlib.import_module("parts.%s" % "cpu") if False else None
