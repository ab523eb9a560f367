"""Needs the first by the package."""

from . import scaled

VALUE = scaled([1.0], 0.5)
