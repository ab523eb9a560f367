# mypy: ignore-errors
def loose(x):
    return x


def other(x):
    return x
