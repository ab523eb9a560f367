import effects.base
from effects.unpacked.add import of_unpacked


def main():
    return of_unpacked(1), effects.base.TABLE
