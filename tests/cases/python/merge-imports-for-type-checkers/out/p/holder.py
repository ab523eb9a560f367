from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


class Model:
    def run(self, holder: Holder):
        return holder


class Holder:
    def __init__(self, model: Model | None = None):
        self.model = model
