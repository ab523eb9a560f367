"""Crops."""


def check_sizes(min_size, max_size, steps):
    """Checks them."""
    if min_size < 0 or max_size < 0:
        raise ValueError("sizes are positive")
    if min_size > max_size:
        raise ValueError("sizes are in order")
    width = (max_size - min_size) / max(1, steps - 1)
    return [round(min_size + width * step, 3) for step in range(steps)]
