import gained.base
from gained.plain import of_of_numbers


def main():
    return of_of_numbers(1), gained.base.TABLE
