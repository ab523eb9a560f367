import effects.base
from effects.operator.add import of_operator


def main():
    return of_operator(1), effects.base.TABLE
