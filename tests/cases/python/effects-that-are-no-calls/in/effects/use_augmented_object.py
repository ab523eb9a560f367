import effects.base
from effects.augmented_object.add import of_augmented_object


def main():
    return of_augmented_object(1), effects.base.TABLE
