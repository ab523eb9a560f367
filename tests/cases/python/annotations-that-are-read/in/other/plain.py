class Read:
    seconds: float


def shown(value: int) -> int:
    return value
