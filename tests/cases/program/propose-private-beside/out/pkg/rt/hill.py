"""Hill shades."""

from .utils import BLOCK
from .utils import _primary_rays


def hill(width, height):
    rays = _primary_rays(width, height, 1.0)
    return [len(ray) * BLOCK for ray in rays]
