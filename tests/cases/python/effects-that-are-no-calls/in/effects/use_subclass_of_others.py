import effects.base
from effects.subclass_of_others.add import of_subclass_of_others


def main():
    return of_subclass_of_others(1), effects.base.TABLE
