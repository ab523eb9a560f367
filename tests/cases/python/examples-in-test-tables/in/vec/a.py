def dot(x, y):
    return sum(a * b for a, b in zip(x, y))


def norm(x):
    return dot(x, x) ** 0.5


__test__ = {"more": ">>> norm([1])\n1.0\n"}
