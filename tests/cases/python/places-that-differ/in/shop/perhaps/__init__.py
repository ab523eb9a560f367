import sys

if sys.version_info >= (3, 0):
    raise ImportError("not here")
