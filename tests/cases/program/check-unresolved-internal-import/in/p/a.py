def f():
    return 1


def __getattr__(name):
    return name
