# mypy: ignore-errors


def check(a):
    return a
