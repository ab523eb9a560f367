import effects.base
from effects.gone_through.add import of_gone_through


def main():
    return of_gone_through(1), effects.base.TABLE
