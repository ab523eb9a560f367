import sys, os
from os import PathLike
WINDOWS = sys.platform.startswith("win")
NEW = sys.version_info >= (3, 8)
LINES = os.linesep.encode("ascii")
def named():
    return sys.platform.lower()
NAME = named()
class Path:
    def __fspath__(self):
        return "x"
PathLike.register(Path)
