"""Sums: every name stands for one other one, so both are the same."""


def weighed(values, weights, floor):
    """The sum of them."""
    total = 0.0
    for value, weight in zip(values, weights):
        if weight > floor:
            total += value * weight / max(floor, 1e-9)
    return round(total, 6)
