"""Coders."""

from geo.coders.bing import Bing
from geo.coders.bing import Yandex
from geo.coders import yandex  # noqa: F401

__all__ = ["Bing", "Yandex"]
