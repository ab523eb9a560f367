R = {}


def register(name):
    def put(f):
        R[name] = f
        return f
    return put
