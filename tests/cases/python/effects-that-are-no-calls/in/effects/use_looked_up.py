import effects.base
from effects.looked_up.add import of_looked_up


def main():
    return of_looked_up(1), effects.base.TABLE
