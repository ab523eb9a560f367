import effects.base
from effects.read_by_property.add import of_read_by_property


def main():
    return of_read_by_property(1), effects.base.TABLE
