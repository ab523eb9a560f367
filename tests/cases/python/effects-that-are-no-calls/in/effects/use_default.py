import effects.base
from effects.default.add import of_default


def main():
    return of_default(1), effects.base.TABLE
