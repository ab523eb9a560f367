from functools import wraps


def traced(first=None, *, level=1):
    def decorator(func, chosen=None):
        @wraps(func)
        def wrapper(*args, **kwargs):
            return func(*args, **kwargs)

        return wrapper

    if first is None:
        return lambda func: decorator(func, level)
    return decorator(first)
