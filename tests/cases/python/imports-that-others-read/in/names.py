import importlib
import sys

print(importlib.import_module("pkg.named").floor(2.3), sys.modules["pkg.named"].floor(2.3))
