import effects.base
from effects.pushed.add import of_pushed


def main():
    return of_pushed(1), effects.base.TABLE
