from collections.abc import Sequence


def area(shape: Sequence[int], *rest: int, unit: int = 1) -> int:
    total = 1
    for size in shape:
        total *= size
    return total * unit


def width(shape: Sequence[int]) -> int:
    return shape[1]
