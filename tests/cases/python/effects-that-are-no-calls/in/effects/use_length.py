import effects.base
from effects.length.add import of_length


def main():
    return of_length(1), effects.base.TABLE
