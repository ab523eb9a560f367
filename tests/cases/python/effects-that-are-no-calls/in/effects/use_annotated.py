import effects.base
from effects.annotated.add import of_annotated


def main():
    return of_annotated(1), effects.base.TABLE
