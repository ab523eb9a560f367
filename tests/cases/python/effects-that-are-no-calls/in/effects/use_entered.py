import effects.base
from effects.entered.add import of_entered


def main():
    return of_entered(1), effects.base.TABLE
