"""More of them."""


def balanced(points, masses, least):
    """The sum of them."""
    result = 0.0
    for point, mass in zip(points, masses):
        if mass > least:
            result += point * mass / max(least, 1e-9)
    return round(result, 6)
