import effects.base
from effects.formatted.add import of_formatted


def main():
    return of_formatted(1), effects.base.TABLE
