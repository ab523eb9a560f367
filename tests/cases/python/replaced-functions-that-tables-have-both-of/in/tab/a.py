def norm(x: float) -> float:
    return abs(x)


def relu(x: float) -> float:
    return max(x, 0.0)


def half(x: float) -> float:
    return x / 2
