import effects.base
from effects.mapped.add import of_mapped


def main():
    return of_mapped(1), effects.base.TABLE
