import importlib

for name in (
    "annotated",
    "total",
    "starred",
    "split",
    "sorted_list",
    "pair",
    "bare",
    "appended",
    "inserted",
    "extended",
    "added",
    "branched",
):
    exec(f"from shop.{name} import *")
    assert importlib.import_module(f"shop.use_{name}").go() == 1, name
