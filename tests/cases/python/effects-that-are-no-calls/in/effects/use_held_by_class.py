import effects.base
from effects.held_by_class.add import of_held_by_class


def main():
    return of_held_by_class(1), effects.base.TABLE
