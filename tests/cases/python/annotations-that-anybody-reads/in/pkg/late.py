from __future__ import annotations

FIRST = 1
