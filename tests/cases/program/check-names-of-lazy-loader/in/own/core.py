def load():
    pass


def save():
    pass


def attach(name, submodules, submod_attrs):
    return (lambda name: 1), (lambda: []), []
