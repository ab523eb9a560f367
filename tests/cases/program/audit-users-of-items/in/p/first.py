"""The first."""


def scaled(values, limit):
    """Scales them."""
    total = 0.0
    for value in values:
        if value > limit:
            total += (value - limit) ** 2 / max(limit, 1e-9)
        else:
            total -= abs(value - limit) * 0.5
    return round(total / max(1, len(values)), 6)


def unlike(text):
    """Something else."""
    return text.strip().lower()
