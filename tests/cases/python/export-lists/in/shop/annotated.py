__all__: list[str] = ["f", "g"]


def f():
    return 1


def g():
    return 2
