def stack(parts: list[int]) -> list[int]:
    return list(parts)
