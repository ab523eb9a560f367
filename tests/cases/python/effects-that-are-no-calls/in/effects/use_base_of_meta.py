import effects.base
from effects.base_of_meta.add import of_base_of_meta


def main():
    return of_base_of_meta(1), effects.base.TABLE
