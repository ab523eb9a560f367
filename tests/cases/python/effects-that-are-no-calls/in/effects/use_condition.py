import effects.base
from effects.condition.add import of_condition


def main():
    return of_condition(1), effects.base.TABLE
