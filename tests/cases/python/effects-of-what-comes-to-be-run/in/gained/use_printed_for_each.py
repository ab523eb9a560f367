import gained.base
from gained.plain import of_printed_for_each


def main():
    return of_printed_for_each(1), gained.base.TABLE
