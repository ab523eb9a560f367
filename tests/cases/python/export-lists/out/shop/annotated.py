__all__: list[str] = ["g"]


def g():
    return 2
