"""Figures."""


def covariance(points, weights):
    """Of the neighbours of a point."""
    count = len(points)
    mean = sum(points) / count
    total = 0.0
    for point, weight in zip(points, weights):
        total += weight * (point - mean) * (point - mean)
    if count < 2:
        return 0.0
    return total / (count - 1)
