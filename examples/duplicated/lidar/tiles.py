"""Tiles on disk."""
import lidar.pipeline


class Tile:
    """One file of points."""

    def __init__(self, path):
        self.path = path

    def points(self):
        """The points, a chunk at a time."""
        with open(self.path) as lines:
            rows = [tuple(map(float, line.split())) for line in lines]
        return rows[: lidar.pipeline.CHUNK_POINTS]
