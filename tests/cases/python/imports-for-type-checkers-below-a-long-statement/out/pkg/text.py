from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    NOTE = """
names for type checkers
"""
    from pkg.source import Owner


class Text:
    def __init__(self, owner: Owner) -> None:
        self.owner = owner
