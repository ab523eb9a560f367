from effects.base import FIELD


class K:
    field = FIELD
