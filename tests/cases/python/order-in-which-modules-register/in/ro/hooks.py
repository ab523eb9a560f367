HOOKS = []


def hook(f):
    HOOKS.append(f.__name__)
    return f
