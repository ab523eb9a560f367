from __future__ import annotations


def other() -> int:
    return 1
