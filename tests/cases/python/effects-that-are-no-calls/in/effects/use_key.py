import effects.base
from effects.key.add import of_key


def main():
    return of_key(1), effects.base.TABLE
