import effects.base
from effects.augmented.add import of_augmented


def main():
    return of_augmented(1), effects.base.TABLE
