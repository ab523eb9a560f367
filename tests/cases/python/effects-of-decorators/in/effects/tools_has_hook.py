import abc

ALL = []


class Above:
    def __init_subclass__(cls):
        ALL.append(cls)


Base = abc.ABCMeta('Base', (Above,), {})
