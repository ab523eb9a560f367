"""Coders."""

from geo.coders.bing import Bing
from geo.coders.yandex import Yandex

__all__ = ["Bing", "Yandex"]
