def scale(points):
    return [2 * point for point in points]
