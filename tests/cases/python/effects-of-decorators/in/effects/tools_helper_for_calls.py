from functools import wraps


def opened(writable=False):
    def convert(args, kwargs):
        return args[0], kwargs.pop('name', None)

    def wrap(func):
        @wraps(func)
        def wrapper(self, *args, **kwargs):
            return func(self, *convert(args, kwargs))

        return wrapper

    return wrap
