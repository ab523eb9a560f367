import effects.base
from effects.for_target.add import of_for_target


def main():
    return of_for_target(1), effects.base.TABLE
