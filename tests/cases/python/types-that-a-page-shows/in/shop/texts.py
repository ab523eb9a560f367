from __future__ import annotations


def helper() -> list[int]:
    return []
