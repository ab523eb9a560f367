from pkg.base import Meta


class Made(metaclass=Meta):
    pass
