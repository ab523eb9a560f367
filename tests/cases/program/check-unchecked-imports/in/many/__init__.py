"""Modules that are no files, and nobody knows which."""
import sys

for name in ("a", "b"):
    sys.modules[f"many.{name}"] = sys
