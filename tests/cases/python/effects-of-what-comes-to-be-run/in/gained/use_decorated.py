import gained.base
from gained.plain import of_decorated


def main():
    return of_decorated(1), gained.base.TABLE
