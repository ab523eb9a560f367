TABLE = {}


def register(name):
    def put(cls):
        TABLE[name] = cls
        return cls

    return put
