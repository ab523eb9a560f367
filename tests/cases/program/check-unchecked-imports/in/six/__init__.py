"""Modules that are no files."""
import sys
import types

sys.modules["six.moves"] = types.SimpleNamespace()
