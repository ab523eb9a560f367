KINDS = {}


def register(cls):
    KINDS[cls.__name__] = cls
    return cls
