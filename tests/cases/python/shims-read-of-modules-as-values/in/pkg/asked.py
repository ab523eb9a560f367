import pkg

ops = pkg.words


def call(name):
    return getattr(ops, name)()
