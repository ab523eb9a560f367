"""What is seen."""

from .utils import BLOCK


def _primary_rays(width, height, spacing):
    """A ray straight down for each cell, eight numbers each."""
    rays = []
    for row in range(height):
        for column in range(width):
            origin = (column * spacing, row * spacing, 10000.0)
            rays.append(origin + (0.0, 0.0, 0.0, -1.0, float("inf")))
    return rays


def view(width, height, observer):
    first = _primary_rays(width, height, 0.5)
    return {observer: first[0], "blocks": BLOCK}
