KINDS = {}


def register(cls):
    KINDS.setdefault(cls.__name__, cls)
    return cls
