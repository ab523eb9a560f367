import gained.base
from gained.plain import of_fails_by_assertion


def main():
    return of_fails_by_assertion(1), gained.base.TABLE
