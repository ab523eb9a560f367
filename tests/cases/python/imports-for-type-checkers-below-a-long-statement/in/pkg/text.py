from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    NOTE = """
names for type checkers
"""
