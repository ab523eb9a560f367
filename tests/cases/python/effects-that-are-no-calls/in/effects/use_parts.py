import effects.base
from effects.parts.add import of_parts


def main():
    return of_parts(1), effects.base.TABLE
