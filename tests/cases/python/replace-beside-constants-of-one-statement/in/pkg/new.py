LOW, HIGH = 0.0, 1.0


def clamp(value):
    return max(LOW, min(HIGH, value))
