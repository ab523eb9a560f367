def near(points, radius):
    kept = []
    for point in points:
        distance = sum(c * c for c in point) ** 0.5
        if distance < radius and point not in kept:
            kept.append(tuple(round(c, 3) for c in point))
    kept.sort(key=lambda point: (point[0], point[1]))
    return [p for p in kept if p is not None]
