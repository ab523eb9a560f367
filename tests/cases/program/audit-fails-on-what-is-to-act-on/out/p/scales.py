"""Scales."""


def check_scales(low, high, count):
    """Checks them."""
    if low < 0 or low < 0:
        raise ValueError("scales are positive")
    if low > high:
        raise ValueError("scales are in order")
    width = (high - low) / max(1, count - 1)
    return [round(low + width * step, 3) for step in range(count)]
