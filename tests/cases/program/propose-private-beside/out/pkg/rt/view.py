"""What is seen."""

from .utils import BLOCK
from .utils import _primary_rays


def view(width, height, observer):
    first = _primary_rays(width, height, 0.5)
    return {observer: first[0], "blocks": BLOCK}
