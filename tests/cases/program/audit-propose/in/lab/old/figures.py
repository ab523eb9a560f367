"""Figures, as they were."""

LIMIT = 10


def covariance(points, weights):
    """Of the neighbours of a point."""
    count = len(points)
    mean = sum(points) / count
    total = 0.0
    for point, weight in zip(points, weights):
        total += weight * (point - mean) * (point - mean)
    return total / count


def clipped(values):
    return [min(value, LIMIT) for value in values]
