from __future__ import annotations

from .model import Model


class User(Model):
    id: int


def plain():
    return 1
