import importlib
import pickle
from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from acme.core.devices import Pool


def a(p: "Optional[acme.core.devices.Pool]") -> "Pool":
    mod = importlib.import_module("acme.core.devices")
    m2 = importlib.import_module("..core.devices", "acme.opt")
    m3 = __import__("acme.core.devices", fromlist=["Pool"])
    cls = getattr(importlib.import_module("acme.opt"), "gpu")
    name = "acme.opt" + ".gpu"
    f = f"acme.opt.{'gpu'}"
    table = {"pool": "acme.core.devices:Pool", "main": ("acme.core.devices", "main")}
    return mod.Pool(1)
