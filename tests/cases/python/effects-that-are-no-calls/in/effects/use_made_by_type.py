import effects.base
from effects.made_by_type.add import of_made_by_type


def main():
    return of_made_by_type(1), effects.base.TABLE
