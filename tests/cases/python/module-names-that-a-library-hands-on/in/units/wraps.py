HANDLED = {}


def wrap(kind, func, args):
    name = ".".join(func.__module__.split(".")[1:] + [func.__name__])
    return HANDLED[kind, name](*args)


def wrap_any(kind, func, args):
    name = ".".join(func.__module__.split(".")[1:] + [func.__name__])
    return HANDLED[kind, name](*args)
