from effects.base import WithMeta


class Plug(WithMeta):
    pass
