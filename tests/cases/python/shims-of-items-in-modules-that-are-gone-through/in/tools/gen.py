import importlib
import inspect

for name in ["pkg.asserts"]:
    module = importlib.import_module(name)
    print(inspect.getmembers(module, inspect.isfunction))
