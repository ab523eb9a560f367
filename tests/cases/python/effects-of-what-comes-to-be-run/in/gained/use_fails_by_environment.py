import gained.base
from gained.plain import of_fails_by_environment


def main():
    return of_fails_by_environment(1), gained.base.TABLE
