def length(x: float) -> float:
    return abs(x)


def rectify(x: float) -> float:
    return max(x, 0.0)


def halve(x: float) -> float:
    return x / 2
