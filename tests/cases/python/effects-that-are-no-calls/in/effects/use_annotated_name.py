import effects.base
from effects.annotated_name.add import of_annotated_name


def main():
    return of_annotated_name(1), effects.base.TABLE
