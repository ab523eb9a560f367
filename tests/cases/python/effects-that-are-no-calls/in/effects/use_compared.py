import effects.base
from effects.compared.add import of_compared


def main():
    return of_compared(1), effects.base.TABLE
