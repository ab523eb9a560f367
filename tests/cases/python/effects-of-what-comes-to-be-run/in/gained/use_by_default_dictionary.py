import gained.base
from gained.plain import of_by_default_dictionary


def main():
    return of_by_default_dictionary(1), gained.base.TABLE
