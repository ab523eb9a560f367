from __future__ import annotations

from pkg.long import Long
from pkg.nested import Nested
from pkg.other import Other
from pkg.text import Text


class Owner:
    """Stays."""

    def make(self) -> list[object]:
        return [Long(self), Nested(self), Other(self), Text(self)]
