import importlib
import sys
from types import ModuleType


class Renamed(ModuleType):
    """What was `lab.old` is `lab.new`."""

    def __getattr__(self, name):
        # Where submodules are looked for.
        if name in ("__path__", "__spec__"):
            package = importlib.import_module("lab.new")
            return getattr(package, name, None)
        return importlib.import_module(f"lab.new.{name}")


class Odd(ModuleType):
    """Has something else to say about where its modules are."""

    def __getattr__(self, name):
        if name == "__path__":
            package = importlib.import_module("lab.new")
            return [*getattr(package, name), "elsewhere"]
        raise AttributeError(name)


sys.modules["lab.old"] = Renamed("lab.old")
sys.modules["lab.odd"] = Odd("lab.odd")


class Bound(ModuleType):
    def __getattr__(self, name):
        if name == "__path__":
            package = importlib.import_module("lab.new")
            return getattr(package, name)
        raise AttributeError(name)


class Twice(ModuleType):
    def __getattr__(self, name):
        if name == "__path__":
            package = importlib.import_module("lab.new")
            return getattr(package, name)
        raise AttributeError(name)


class Helped(ModuleType):
    def __getattr__(self, name):
        if name == "__path__":
            package = helper.import_module("lab.new")
            return getattr(package, name)
        raise AttributeError(name)


try:
    from lab.fast import Bound
except ImportError:
    pass

sys.modules["lab.bound"] = Bound("lab.bound")
sys.modules["lab.twice"] = Twice("lab.twice")
if len(sys.argv) > 9:
    sys.modules["lab.twice"] = importlib.import_module("lab.new")
sys.modules["lab.helped"] = Helped("lab.helped")
