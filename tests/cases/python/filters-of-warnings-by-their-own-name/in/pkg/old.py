import warnings


class Settings:
    def __setattr__(self, name, value):
        super().__setattr__(name, str(value))


def count():
    warnings.warn("count is old", DeprecationWarning, stacklevel=2)
    return 1
