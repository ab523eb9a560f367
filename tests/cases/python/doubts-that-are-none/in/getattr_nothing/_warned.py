import warnings
def made_getattr(module, deprecations):
    def found(name):
        if name in deprecations:
            message, value = deprecations[name]
            if value is None:
                raise AttributeError(message)
            warnings.warn(message, DeprecationWarning, stacklevel=2)
            return value
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    return found
