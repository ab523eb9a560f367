"""A package."""

from .first import scaled
