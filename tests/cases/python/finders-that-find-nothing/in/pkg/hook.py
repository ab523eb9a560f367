import sys
from importlib.abc import MetaPathFinder


class Hook(MetaPathFinder):
    def find_spec(self, fullname, path, target=None):
        if fullname in ("twisted.internet.reactor", "pkg.told"):
            raise ImportError(f"import of {fullname} is forbidden")
        return None


def install():
    hook = Hook()
    sys.meta_path.insert(0, hook)
    return hook
