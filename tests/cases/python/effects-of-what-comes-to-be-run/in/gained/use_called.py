import gained.base
from gained.plain import of_called


def main():
    return of_called(1), gained.base.TABLE
