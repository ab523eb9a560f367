def __getattr__(name):
    value = registry(name)
    if value is None:
        raise AttributeError(name)
    return value


def registry(name):
    return {"a": 1}.get(name)
