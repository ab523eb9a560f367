import effects.base
from effects.attribute.add import of_attribute


def main():
    return of_attribute(1), effects.base.TABLE
