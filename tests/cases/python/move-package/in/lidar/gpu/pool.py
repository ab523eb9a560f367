from .deep import leaf as _leaf
from ..shared import VALUE


class Pool:
    size = VALUE
