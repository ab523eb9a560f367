"""From tiles to features."""
from lidar.features import features
from lidar.tiles import Tile

CHUNK_POINTS = 1_000_000


def run(paths):
    """Features of every tile."""
    return [features(Tile(path).points()) for path in paths]
