import sys
from os.path import join

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def total(x):
    return join(x)
