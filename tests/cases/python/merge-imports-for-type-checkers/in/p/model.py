from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from p.holder import Holder


class Model:
    def run(self, holder: Holder):
        return holder
