from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sized
    from pkg.source import Owner
else:
    Sized = object


class Other:
    def __init__(self, owner: Owner) -> None:
        self.owner = owner
