from pkg.base import Loaded


class Source(Loaded):
    pass
