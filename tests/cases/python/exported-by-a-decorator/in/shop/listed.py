__all__ = []


def export(function):
    __all__.append(function.__name__)
    return function


@export
def one():
    return 1


@export
def two():
    return 2
