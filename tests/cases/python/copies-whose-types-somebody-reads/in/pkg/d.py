def shown(value: int) -> int:
    return value + 1
