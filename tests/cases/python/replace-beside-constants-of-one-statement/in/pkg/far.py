LOW, HIGH = 0.0, 2.0


def clamp(value):
    return max(LOW, min(HIGH, value))
