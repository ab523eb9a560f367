from functools import wraps

CALLS = {}


def converted(source, target):
    def wrap(func):
        @wraps(func)
        def wrapper(*args, **kwargs):
            try:
                return func(*args, **kwargs)
            except source as error:
                raise target(str(error)) from error

        return wrapper

    return wrap


def first(args):
    return args[0]


def count(name):
    return CALLS.get(name, 0)


def announce(name):
    CALLS[name] = CALLS.get(name, 0) + 1
