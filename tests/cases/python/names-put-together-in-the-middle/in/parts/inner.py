import importlib

G = importlib.import_module("%s.backends" % __package__)
