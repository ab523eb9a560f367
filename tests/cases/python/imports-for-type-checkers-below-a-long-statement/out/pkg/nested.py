from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    if sys.version_info >= (3, 12):
        from collections.abc import Buffer
    from pkg.source import Owner


class Nested:
    def __init__(self, owner: Owner) -> None:
        self.owner = owner
