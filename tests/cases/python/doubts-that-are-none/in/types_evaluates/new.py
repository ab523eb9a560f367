from __future__ import annotations
LIMIT = 1
