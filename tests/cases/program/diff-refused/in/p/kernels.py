def split(points):
    return points


class Pool:
    def take(self):
        return 1
