import gained.base
from gained.plain import of_fails_by_argument


def main():
    return of_fails_by_argument(1), gained.base.TABLE
