LOG = []


class Loud:
    def __init__(self):
        LOG.append(1)


class Mixin:
    def __init__(self):
        super().__init__()


class Both(Mixin, Loud):
    pass
