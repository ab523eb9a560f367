from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from p.model import Model


class Holder:
    def __init__(self, model: Model | None = None):
        self.model = model
