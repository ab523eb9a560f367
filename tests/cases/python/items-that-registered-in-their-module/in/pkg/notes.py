"""Makes a warning and tells nobody."""
import sys

if sys.version_info < (3, 0):
    DeprecationWarning("this is old")


def note(value):
    return value
