import pkg._native as native


class Point:
    def near(self, other, limit=native.LIMIT):
        return abs(other) < limit
