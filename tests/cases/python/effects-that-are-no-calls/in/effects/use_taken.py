import effects.base
from effects.taken.add import of_taken


def main():
    return of_taken(1), effects.base.TABLE
