def kinds(function):
    return getattr(function, "__annotations__", {})
