def types_of(function):
    return function.__annotations__
