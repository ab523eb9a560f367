TABLE = {}


def known(name):
    def put(f):
        TABLE[name] = f
        return f

    return put
