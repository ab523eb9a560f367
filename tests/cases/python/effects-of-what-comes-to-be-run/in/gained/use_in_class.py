import gained.base
from gained.plain import of_in_class


def main():
    return of_in_class(1), gained.base.TABLE
