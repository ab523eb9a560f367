import gained.base
from gained.plain import of_appended


def main():
    return of_appended(1), gained.base.TABLE
