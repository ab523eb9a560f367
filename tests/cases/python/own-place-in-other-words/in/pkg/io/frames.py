import inspect


def f():
    return 1


HERE = inspect.getmodule(f).__file__
