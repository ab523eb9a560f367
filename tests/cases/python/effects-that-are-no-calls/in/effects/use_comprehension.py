import effects.base
from effects.comprehension.add import of_comprehension


def main():
    return of_comprehension(1), effects.base.TABLE
