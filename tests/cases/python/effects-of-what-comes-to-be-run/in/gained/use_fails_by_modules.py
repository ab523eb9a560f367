import gained.base
from gained.plain import of_fails_by_modules


def main():
    return of_fails_by_modules(1), gained.base.TABLE
