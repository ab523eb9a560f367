import inspect


def show(function):
    shape = inspect.signature(function)
    return f"{function.__name__}{shape}"
